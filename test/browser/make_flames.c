// SPDX-License-Identifier: GPL-2.0-or-later
/* make_flames FOLDER: flame graphs with known frames, as flames.svg, page.html and large.svg. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/flame/flame_picture.h"
#include "core/flame/flame_tree.h"
#include "sym/util/array.h"

/* Each would set window.hacked if a browser took it for markup. */
static const char *const hostile[] = {
	"</title><script>window.hacked=1</script>",
	"<img src=x onerror=window.hacked=1>",
	"]]><script>window.hacked=1</script>",
	"\"onmouseover=\"window.hacked=1",
	"<!--",
	"&lt;script&gt;",
};

static void add(struct flame_tree *tree, const char *words, uint64_t weight)
{
	static const enum flame_kind kinds[] = {FLAME_PROCESS, FLAME_USER, FLAME_INLINED,
						FLAME_KERNEL};
	struct flame_frame frames[16];
	char *copy = strdup(words);
	size_t nr = 0;

	for (char *word = strtok(copy, ";"); word; word = strtok(NULL, ";")) {
		frames[nr] = (struct flame_frame){.text = word,
						  .module = nr ? "libc.so.6" : NULL,
						  .kind = kinds[nr % ARRAY_SIZE(kinds)]};
		nr++;
	}
	if (flame_tree__add(tree, frames, nr, weight))
		exit(1);
	free(copy);
}

static void write_picture(const char *folder, const char *name, struct flame_tree *tree,
			  bool in_page)
{
	const struct flame_picture picture = {.tree = tree,
					      .title = "title",
					      .about = "about",
					      .unit = "samples",
					      .in_page = in_page};
	char path[PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "w");
	if (!out || flame_tree__sort(tree) || flame_picture__write(out, &picture) || fclose(out))
		exit(1);
}

int main(int argc, char **argv)
{
	struct flame_tree tree = {0}, large = {0};

	if (argc != 2)
		return 2;
	add(&tree, "shop;main;serve;read", 60);
	add(&tree, "shop;main;serve;write", 20);
	add(&tree, "shop;main;idle", 15);
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++)
		flame_tree__add(&tree,
				(const struct flame_frame[]){{hostile[i], hostile[i], FLAME_USER}},
				1, 1);
	write_picture(argv[1], "flames.svg", &tree, false);
	write_picture(argv[1], "page.html", &tree, true);
	for (int i = 0; i < 100000; i++) {
		char words[128];

		snprintf(words, sizeof(words), "p%d;function_%d;call_%d;leaf_%d", i % 7, i % 100,
			 i % 10000, i);
		add(&large, words, 1 + (uint64_t)i % 13);
	}
	write_picture(argv[1], "large.svg", &large, false);
	flame_tree__release(&tree);
	flame_tree__release(&large);
	return 0;
}
