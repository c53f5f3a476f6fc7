// SPDX-License-Identifier: GPL-2.0-or-later
// A flame graph that is looked at: zoom, search, keys, state in the URL. The picture is whole without
// it. Names are read and written as text, never as markup.
(() => {
	'use strict';
	const svg = document.querySelector('svg.flame');
	const ROW = 16, PAD = 3, NARROW = 0.3;
	const SVG = 'http://www.w3.org/2000/svg';
	const details = svg.querySelector('.details'), matched = svg.querySelector('.matched');
	const modules = [...svg.querySelectorAll('metadata > *')].map((module) => module.textContent);
	const some_left_out = 'leftOut' in svg.querySelector('.frames').dataset;
	const frames = [...svg.querySelector('.frames').children].map((group, number) => {
		const rect = group.querySelector('rect'), title = group.querySelector('title').textContent;
		const end = title.lastIndexOf('\n');

		return {
			number, group, rect,
			label: group.querySelector('text'),
			name: title.slice(0, end), title: title.replace('\n', '  '),
			x: parseFloat(rect.getAttribute('x')),
			depth: Number(group.dataset.d), total: Number(group.dataset.n),
			now: Number(group.dataset.n), before: Number(group.dataset.b),
			module: modules[Number(group.dataset.m) - 1],
		};
	});
	const deepest = frames.reduce((most, frame) => Math.max(most, frame.depth), 0);
	const state = {zoom: 0, search: '', down: false, modules: false, before: false};
	let selected = null, character = 7;

	// Frames come in the order of a walk, each before its callees: with their depths that says who
	// calls whom. A frame holds those before its end.
	const open = [];
	for (const frame of frames) {
		for (const left of open.splice(frame.depth))
			left.end = frame.number;
		frame.caller = open[frame.depth - 1];
		open.push(frame);
		frame.place = {x: frame.x, width: frame.number ? frame.now / (frames[0].now || 1) * 100 : 100};
	}
	for (const left of open)
		left.end = frames.length;
	const holds = (outer, inner) => outer.number <= inner.number && inner.number < outer.end;

	// Where the frames of the earlier run would be: each beside its neighbour, on its caller.
	function place_before() {
		const next = [0], unit = 100 / frames[0].before;

		for (const frame of frames) {
			frame.place_before = {x: next[frame.depth], width: frame.before * unit};
			next[frame.depth + 1] = next[frame.depth];
			next[frame.depth] += frame.before * unit;
		}
	}

	// Widths, places and weights of one of the two runs.
	function choose_run() {
		if (state.before && !frames[0].place_before)
			place_before();
		for (const frame of frames) {
			Object.assign(frame, state.before ? frame.place_before : frame.place);
			frame.total = state.before ? frame.before : frame.now;
		}
		if (frames[state.zoom].width === 0)
			state.zoom = 0;
	}

	const row = (frame) => (state.down ? frame.depth : deepest - frame.depth) * ROW;

	// Where a frame is in the zoomed picture, in percent; null: outside.
	function place(frame) {
		const zoom = frames[state.zoom];

		if (frame.depth < zoom.depth)
			return holds(frame, zoom) ? {x: 0, width: 100} : null;
		if (!holds(zoom, frame))
			return null;
		return {x: (frame.x - zoom.x) / zoom.width * 100, width: frame.width / zoom.width * 100};
	}

	function fit(frame, pixels) {
		const room = Math.floor((pixels - 2 * PAD) / character);
		const text = room < 3 ? '' :
			frame.name.length <= room ? frame.name : frame.name.slice(0, room - 2) + '..';

		if (!text && !frame.label)
			return;
		if (!frame.label) {
			frame.label = document.createElementNS(SVG, 'text');
			frame.label.setAttribute('dx', PAD);
			frame.group.append(frame.label);
		}
		frame.label.textContent = text;
	}

	function hue(text) {
		let hash = 0;

		for (const letter of text)
			hash = (hash * 31 + letter.codePointAt(0)) % 360;
		return hash;
	}

	function draw() {
		const pixels = svg.getBoundingClientRect().width / 100;
		const zoom = frames[state.zoom];

		for (const frame of frames) {
			const at = place(frame), shown = at && at.width * pixels >= NARROW;

			frame.group.style.display = shown ? '' : 'none';
			if (!shown)
				continue;
			frame.rect.setAttribute('x', at.x + '%');
			frame.rect.setAttribute('width', at.width + '%');
			frame.rect.setAttribute('y', row(frame));
			frame.group.classList.toggle('around', frame.depth < zoom.depth);
			frame.rect.style.fill = state.modules && frame.module ?
				'hsl(' + hue(frame.module) + ' 55% 60%)' : '';
			fit(frame, at.width * pixels);
			if (frame.label) {
				frame.label.setAttribute('x', at.x + '%');
				frame.label.setAttribute('y', row(frame) + 12);
			}
		}
	}

	// Matches in a match are not counted again. Of frames that are left out nobody knows the names.
	function search() {
		let expression = null, sum = 0, within = null;

		try {
			expression = state.search ? new RegExp(state.search) : null;
		} catch (error) {
			details.textContent = error.message;
		}
		for (const frame of frames) {
			const match = expression !== null && expression.test(frame.name);

			frame.group.classList.toggle('match', match);
			if (within && !holds(within, frame))
				within = null;
			if (match && !within) {
				within = frame;
				sum += frame.total;
			}
		}
		matched.textContent = expression ? 'matched: ' + (some_left_out ? 'at least ' : '') +
			(sum / (frames[0].total || 1) * 100).toFixed(2) + ' %' : '';
	}

	function show() {
		choose_run();
		for (const [name, on] of [['icicle', state.down], ['modules', state.modules],
			['before', state.before], ['reset', state.zoom > 0], ['search', state.search]])
			svg.querySelector('.button.' + name)?.classList.toggle('on', Boolean(on));
		search();
		draw();
	}

	function keep() {
		const parts = new URLSearchParams();

		if (state.zoom)
			parts.set('zoom', state.zoom);
		if (state.search)
			parts.set('search', state.search);
		if (state.down)
			parts.set('icicle', 1);
		if (state.modules)
			parts.set('modules', 1);
		if (state.before)
			parts.set('before', 1);
		history.replaceState(null, '', '#' + parts);
	}

	function recall() {
		const parts = new URLSearchParams(location.hash.slice(1));
		const zoom = Number(parts.get('zoom'));

		state.zoom = frames[zoom] ? zoom : 0;
		state.search = parts.get('search') || '';
		state.down = parts.has('icicle');
		state.modules = parts.has('modules');
		state.before = parts.has('before') && frames[0].before > 0;
		show();
	}

	function change(what) {
		Object.assign(state, what);
		keep();
		show();
	}

	function select(frame) {
		if (selected)
			selected.group.classList.remove('selected');
		selected = frame;
		if (frame)
			frame.group.classList.add('selected');
		details.textContent = frame ? frame.title : '';
	}

	function ask() {
		const text = prompt('Search for a regular expression:', state.search);

		if (text !== null)
			change({search: text});
	}

	const frame_of = (event) => {
		const group = event.target.closest('.frames > g');

		return group && frames.find((frame) => frame.group === group);
	};
	const visible = (frame) => frame.group.style.display !== 'none';

	// The frame that an arrow leads to: its caller, its widest callee, or its neighbour.
	function step(key) {
		if (!selected)
			return frames[state.zoom];
		if (key === (state.down ? 'ArrowUp' : 'ArrowDown'))
			return selected.caller;
		if (key === 'ArrowUp' || key === 'ArrowDown')
			return frames.filter((frame) => frame.caller === selected && visible(frame))
				.reduce((best, frame) => !best || frame.width > best.width ? frame : best, null);
		const line = frames.filter((frame) => frame.depth === selected.depth && visible(frame));

		return line[line.indexOf(selected) + (key === 'ArrowLeft' ? -1 : 1)];
	}

	svg.addEventListener('click', (event) => {
		const frame = frame_of(event), button = event.target.closest('.button');

		if (frame)
			change({zoom: frame.number});
		else if (button && button.classList.contains('reset'))
			change({zoom: 0});
		else if (button && button.classList.contains('search'))
			ask();
		else if (button && button.classList.contains('icicle'))
			change({down: !state.down});
		else if (button && button.classList.contains('modules'))
			change({modules: !state.modules});
		else if (button && button.classList.contains('before'))
			change({before: !state.before && frames[0].before > 0});
	});
	svg.addEventListener('mouseover', (event) => {
		const frame = frame_of(event);

		if (frame)
			select(frame);
	});
	document.addEventListener('keydown', (event) => {
		if (((event.ctrlKey || event.metaKey) && event.key === 'f') || event.key === 'F3') {
			ask();
		} else if (event.key === 'Escape') {
			change(state.search ? {search: ''} : {zoom: 0});
		} else if (event.key === 'Enter' && selected) {
			change({zoom: selected.number});
		} else if (event.key.startsWith('Arrow') && !event.altKey) {
			const next = step(event.key);

			if (next)
				select(next);
		} else {
			return;
		}
		event.preventDefault();
	});
	document.addEventListener('click', (event) => {
		const cell = event.target.closest('[data-name]');

		if (cell)
			change({search: '^' + cell.textContent.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') + '$'});
	});
	addEventListener('resize', draw);
	// The head stays in sight.
	addEventListener('scroll', () => {
		const top = svg.getBoundingClientRect().top;

		svg.querySelector('.head').setAttribute('transform', 'translate(0,' + Math.max(0, -top) + ')');
	});
	addEventListener('hashchange', recall);

	const probe = frames[0].label || frames[0].group.appendChild(document.createElementNS(SVG, 'text'));
	const before = probe.textContent;

	probe.textContent = 'mmmmmmmmmmiiiiiiiiii';
	character = probe.getComputedTextLength() / 20 || character;
	probe.textContent = before;
	frames[0].label = probe;
	svg.classList.add('live');
	recall();
	// The roots are below.
	if (!state.down)
		scrollTo(0, document.documentElement.scrollHeight);
})();
