// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * make_flames FOLDER: flame graphs with known frames, and with what folded lines cannot say
 * (modules), as flames.svg and page.html.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/flame/flame_page.h"
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
			  int (*write)(FILE *out, const struct flame_picture *picture))
{
	const struct flame_picture picture = {
		.tree = tree, .title = "title", .about = "about", .unit = "samples"};
	char path[PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "w");
	if (!out || flame_tree__sort(tree) || write(out, &picture) || fclose(out))
		exit(1);
}

int main(int argc, char **argv)
{
	struct flame_tree tree = {0};

	if (argc != 2)
		return 2;
	add(&tree, "shop;main;serve;read", 60);
	add(&tree, "shop;main;serve;write", 20);
	add(&tree, "shop;main;idle", 15);
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++)
		flame_tree__add(&tree,
				(const struct flame_frame[]){{hostile[i], hostile[i], FLAME_USER}},
				1, 1);
	write_picture(argv[1], "flames.svg", &tree, flame_picture__write);
	write_picture(argv[1], "page.html", &tree, flame_page__write);
	flame_tree__release(&tree);
	return 0;
}
