#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# --install: links, and nothing that was there is lost.

load helpers
load ../refute
load ../refute

@test "hard links to every applet" {
	cp "$TRACEKIT" ./tracekit
	mkdir bin
	./tracekit --install bin
	for applet in $(./tracekit --list | awk '{ print $1 }'); do
		[ "bin/$applet" -ef ./tracekit ]
		[ ! -L "bin/$applet" ]
		bin/"$applet" --help | grep -q "^usage: $applet "
	done
}

@test "-s: symbolic links, to the full path" {
	cp "$TRACEKIT" ./tracekit
	mkdir bin
	./tracekit --install -s bin
	[ "$(readlink bin/profile)" = "$PWD/tracekit" ]
	bin/profile --help | grep -q '^usage: profile '
}

@test "again: links that are there are left alone" {
	cp "$TRACEKIT" ./tracekit
	mkdir bin
	./tracekit --install bin
	./tracekit --install bin
	./tracekit --install -s bin
	[ ! -L bin/profile ]
}

@test "something else is never overwritten" {
	cp "$TRACEKIT" ./tracekit
	mkdir bin
	echo mine >bin/profile
	says 1 err "tracekit: cannot install bin/profile: something else is there; remove it first" \
		./tracekit --install bin
	[ "$(cat bin/profile)" = mine ]
	rm bin/profile
	ln -s nowhere bin/profile
	says 1 err "tracekit: cannot install bin/profile: something else is there; remove it first" \
		./tracekit --install -s bin
	[ "$(readlink bin/profile)" = nowhere ]
}

@test "a directory that is none" {
	says 1 err "tracekit: cannot install into nowhere: No such file or directory" \
		tracekit --install nowhere
	touch file
	says 1 err "tracekit: cannot install into file: Not a directory" tracekit --install file
}

@test "cmake --install puts pages and completion in place" {
	for folder in DATAROOTDIR:PATH=share DATADIR:PATH= MANDIR:PATH=; do
		grep -Fxq "CMAKE_INSTALL_$folder" "$BUILD/CMakeCache.txt" || skip "other folders were chosen"
	done
	DESTDIR=$PWD/root cmake --install "$BUILD" --prefix /usr >log
	cd root/usr/share
	diff <(tracekit --completion bash) bash-completion/completions/tracekit
	diff <(tracekit --completion zsh) zsh/site-functions/_tracekit
	diff <(tracekit --completion fish) fish/vendor_completions.d/tracekit.fish
	for page in tracekit $(tracekit --list | awk '{ print $1 }'); do
		[ -s "man/man8/$page.8" ]
		# by the name of the command
		[ bash-completion/completions/"$page" -ef bash-completion/completions/tracekit ]
		[ fish/vendor_completions.d/"$page".fish -ef fish/vendor_completions.d/tracekit.fish ]
	done
}

@test "cmake --install puts the binary and a link for each applet in place" {
	DESTDIR=$PWD/root cmake --install "$BUILD" --prefix /usr >log
	[ -x root/usr/bin/tracekit ]
	for applet in $(root/usr/bin/tracekit --list | awk '{ print $1 }'); do
		[ "$(readlink "root/usr/bin/$applet")" = tracekit ]
		"root/usr/bin/$applet" --help | grep -q "^usage: $applet "
	done
}

@test "cpack -G DEB makes a package that needs no other" {
	command -v dpkg-deb >/dev/null || skip "dpkg-deb is not installed"
	grep -Fxq 'TRACEKIT_STATIC:BOOL=ON' "$BUILD/CMakeCache.txt" || skip "the build is not static"
	! grep -Eq 'TRACEKIT_(SANITIZE|FUZZ):BOOL=ON' "$BUILD/CMakeCache.txt" || skip "the build is not static"
	cpack --config "$BUILD/CPackConfig.cmake" -G DEB -B "$PWD" >log
	package=$(echo tracekit_*_"$(dpkg --print-architecture)".deb)
	dpkg-deb -f "$package" >fields
	[ "$(sed -n 's/^Section: //p' fields)" = utils ]
	refute grep -q '^Depends:' fields
	dpkg-deb -x "$package" root
	[ "$(stat -c %a root/usr/bin/tracekit)" = 755 ]
	for applet in $(tracekit --list | awk '{ print $1 }'); do
		[ "$(readlink "root/usr/bin/$applet")" = tracekit ]
		[ -s "root/usr/share/man/man8/$applet.8" ]
	done
	root/usr/bin/profile --help | grep -q '^usage: profile '
	[ -s root/usr/share/doc/tracekit/copyright ]
	dpkg-deb -c "$package" | refute grep -Ev ' root/root .* \./($|usr/)'
}
