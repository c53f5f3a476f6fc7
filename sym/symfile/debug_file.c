// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/symfile/debug_file.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "sym/child/supervisor.h"
#include "sym/elf/file.h"
#include "sym/elf/work.h"
#include "sym/types.h"
#include "sym/util/cleanup.h"
#include "sym/util/text.h"

#define DEBUG_FOLDER "/usr/lib/debug"

/*
 * A CRC, of 1 GB at most, takes about a second from memory. A unit of work takes as long as so many
 * bytes.
 */
#define CRC_MAX	       ((uint64_t)1024 * 1024 * 1024)
#define CRC_PIECE      ((size_t)64 * 1024)
#define BYTES_PER_WORK 256

/* How it is shown that a candidate belongs to the program. */
enum proof {
	PROOF_ID,     /* it has the ID */
	PROOF_CRC,    /* if both have an ID, that; else it has the CRC */
	PROOF_LAYOUT, /* the same, or it has the segments of the program */
	PROOF_LATER,  /* whoever reads it will see */
};

struct hunt {
	struct debug_files *files;
	const struct debug_search *search;
	struct debug_id id; /* of what is looked for */
	bool any_content;
	struct debug_file found;

	/* The root at hand. */
	int root;
	enum debug_place place;
	pid_t blamed; /* if it does not answer: see supervisor__touch_debug() */
};

/* ---- the files of a run ---- */

int debug_files__open(struct debug_files *files, const struct sym_settings *settings,
		      const struct supervisor *supervisor)
{
	int symfs = settings->symfs ? rooted__name_ours(settings->symfs, O_DIRECTORY) : -1;

	*files = (struct debug_files){.supervisor = supervisor,
				      .symfs = symfs < 0 ? -1 : symfs,
				      .asks_server = settings->debuginfod,
				      .server = {.supervisor = supervisor}};
	return settings->symfs && symfs < 0 ? symfs : 0;
}

void debug_files__close(struct debug_files *files)
{
	cleanup__close(&files->symfs);
	debuginfod__release(&files->server);
	*files = (struct debug_files){.symfs = -1};
}

/* ---- what belongs to what ---- */

bool debug_content__is_in(const struct elf_file *elf, enum debug_content content)
{
	const struct elf_section *section;

	if (content == DEBUG_DWARF) {
		section = elf_file__find_section(elf, ".debug_info", false);
		if (!section)
			section = elf_file__find_section(elf, ".zdebug_info", false);
		return section && section->size > 0;
	}
	for (size_t i = 0; i < elf->nr_sections; i++)
		if (elf->sections[i].type == SHT_SYMTAB && elf->sections[i].size > 0)
			return true;
	return false;
}

static void read_id(struct debug_id *id, const struct elf_file *elf)
{
	int size = elf_notes__build_id(elf, id->bytes);

	/* A path takes more than one byte. */
	id->size = size < 2 ? 0 : size;
}

static bool is_same_id(const struct debug_id *a, const struct debug_id *b)
{
	return a->size && a->size == b->size && !memcmp(a->bytes, b->bytes, (size_t)a->size);
}

/* In a file that has lost its code segments lie elsewhere, but not in memory, nor in number. */
static bool has_same_layout(const struct elf_file *a, const struct elf_file *b)
{
	if (a->nr_segments != b->nr_segments || a->nr_segments == 0)
		return false;
	for (size_t i = 0; i < a->nr_segments; i++)
		if (a->segments[i].address != b->segments[i].address ||
		    a->segments[i].memory != b->segments[i].memory ||
		    a->segments[i].flags != b->segments[i].flags)
			return false;
	return true;
}

/* Check the CRC of the whole file; false if it is another one, or was too much work. */
static bool has_crc(const struct elf_file *elf, off_t size, uint32_t wanted, uint64_t *work)
{
	const struct work share = work__share(work, CRC_MAX / BYTES_PER_WORK);
	CLEANUP_FREE unsigned char *piece = malloc(CRC_PIECE);
	uLong crc = crc32(0, NULL, 0);
	uint64_t done = 0;
	size_t got;

	if (!piece || size < 0 || (uint64_t)size > CRC_MAX)
		return false;
	do {
		if (!work__is_left(&share))
			return false;
		got = elf_file__read(elf, piece, CRC_PIECE, done);
		crc = crc32(crc, piece, (uInt)got);
		work__charge(&share, 1 + got / BYTES_PER_WORK);
		done += got;
	} while (got == CRC_PIECE);
	return crc == wanted;
}

/* crc: only for PROOF_CRC. size: of the candidate's file. */
static bool belongs(const struct hunt *hunt, const struct elf_file *candidate, off_t size,
		    enum proof proof, uint32_t crc)
{
	struct debug_id id;

	if (proof == PROOF_LATER)
		return true;
	read_id(&id, candidate);
	if (proof == PROOF_ID || (hunt->id.size && id.size))
		return is_same_id(&hunt->id, &id);
	if (proof == PROOF_CRC)
		return has_crc(candidate, size, crc, hunt->search->work);
	return !hunt->id.size && !id.size && has_same_layout(hunt->search->elf, candidate);
}

static bool may_be_owner(const struct hunt *hunt, uid_t owner)
{
	struct stat program;

	if (hunt->place == DEBUG_SYMFS || hunt->place == DEBUG_TARGET || owner == 0 ||
	    owner == geteuid())
		return true;
	return fstat(hunt->search->elf->fd, &program) == 0 && owner == program.st_uid;
}

/* On a disk it may take the time that it needs. */
static void touch(const struct hunt *hunt, dev_t device)
{
	if (hunt->files->supervisor)
		supervisor__touch_debug(hunt->files->supervisor, hunt->blamed, device);
}

/* ---- candidates: 0 if it is taken, -ENOENT if not, or another negative errno ---- */

static int offer(struct hunt *hunt, const char *path, enum proof proof, uint32_t crc)
{
	CLEANUP(elf_file__close) struct elf_file candidate = {.fd = -1};
	const struct debug_search *search = hunt->search;
	CLEANUP_CLOSE int fd = -1;
	struct stat st;
	int err;

	touch(hunt, 0);
	fd = rooted__open(hunt->root, path, &st);
	if (fd < 0 || !may_be_owner(hunt, st.st_uid))
		return -ENOENT;
	touch(hunt, st.st_dev);
	err = elf_file__open(&candidate, fd);
	if (err)
		return err == -ENOMEM ? err : -ENOENT;
	if (candidate.machine != search->elf->machine ||
	    candidate.is_64bit != search->elf->is_64bit ||
	    !(hunt->any_content || debug_content__is_in(&candidate, search->wanted)) ||
	    !belongs(hunt, &candidate, st.st_size, proof, crc))
		return -ENOENT;
	hunt->found =
		(struct debug_file){.fd = TAKE_FD(fd), .place = hunt->place, .device = st.st_dev};
	return 0;
}

static int offer_id(struct hunt *hunt)
{
	char path[sizeof(DEBUG_FOLDER "/.build-id/xx/.debug") + 2 * ELF_BUILD_ID_MAX];
	char *end = path;

	if (!hunt->id.size)
		return -ENOENT;
	end += sprintf(end, DEBUG_FOLDER "/.build-id/%02x/", hunt->id.bytes[0]);
	text__hex(hunt->id.bytes + 1, (size_t)hunt->id.size - 1, end);
	strcat(end, ".debug");
	return offer(hunt, path, PROOF_ID, 0);
}

/* The path of the program, without what the kernel says behind it; false if it has none. */
static bool program_path(const struct hunt *hunt, char path[PATH_MAX])
{
	const char *given = hunt->search->path;

	if (!given && rooted__path(hunt->root, hunt->search->elf->fd, path))
		return false;
	if (given && (given[0] != '/' || snprintf(path, PATH_MAX, "%s", given) >= PATH_MAX))
		return false;
	path[mapping_path__length(path)] = '\0';
	return true;
}

/* Offer the file that has the path of the program below the user's folder. */
static int offer_same_path(struct hunt *hunt)
{
	char path[PATH_MAX];

	return program_path(hunt, path) ? offer(hunt, path, PROOF_LAYOUT, 0) : -ENOENT;
}

static int offer_links(struct hunt *hunt)
{
	static const char *const formats[] = {"%s/%s", "%s/.debug/%s", DEBUG_FOLDER "%s/%s"};
	char folder[PATH_MAX], path[2 * PATH_MAX];
	struct debug_link link;
	int err = -ENOENT;

	if (!program_path(hunt, folder) || debug_link__read(&link, hunt->search->elf))
		return -ENOENT;
	*strrchr(folder, '/') = '\0';
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]) && err == -ENOENT; i++) {
		snprintf(path, sizeof(path), formats[i], folder, link.name);
		err = offer(hunt, path, PROOF_CRC, link.crc);
	}
	return err;
}

static int offer_from_server(struct hunt *hunt)
{
	char path[PATH_MAX];
	int err = debuginfod__find(&hunt->files->server, &hunt->id, path);

	if (err)
		return err == -ETIME ? err : -ENOENT;
	return offer(hunt, path, PROOF_ID, 0);
}

/* ---- places ---- */

/* Search there from now on. False if that place has not answered earlier. */
static bool enter(struct hunt *hunt, enum debug_place place, int root, pid_t blamed)
{
	hunt->place = place;
	hunt->root = root;
	hunt->blamed = blamed;
	if (hunt->files->supervisor && supervisor__avoids_debug(hunt->files->supervisor, blamed))
		return false;
	touch(hunt, 0);
	return true;
}

static bool has_place(const struct hunt *hunt, enum debug_place place)
{
	return hunt->search->places & place;
}

static int search_symfs(struct hunt *hunt)
{
	int err;

	if (!has_place(hunt, DEBUG_SYMFS) || hunt->files->symfs < 0 ||
	    !enter(hunt, DEBUG_SYMFS, hunt->files->symfs, 0))
		return -ENOENT;
	err = offer_same_path(hunt);
	if (err == -ENOENT)
		err = offer_id(hunt);
	return err == -ENOENT ? offer_links(hunt) : err;
}

static int search_host(struct hunt *hunt)
{
	if (!has_place(hunt, DEBUG_HOST) || !enter(hunt, DEBUG_HOST, ROOTED_OURS, 0))
		return -ENOENT;
	return offer_id(hunt);
}

static int search_server(struct hunt *hunt)
{
	if (!has_place(hunt, DEBUG_SERVER) || !hunt->files->asks_server ||
	    !enter(hunt, DEBUG_SERVER, ROOTED_OURS, 0))
		return -ENOENT;
	return offer_from_server(hunt);
}

static int search_root(struct hunt *hunt, int root)
{
	int err = -ENOENT;

	hunt->root = root;
	hunt->place = root == ROOTED_OURS ? DEBUG_HOST : DEBUG_TARGET;
	if (!has_place(hunt, hunt->place))
		return -ENOENT;
	if (hunt->place == DEBUG_TARGET)
		err = offer_id(hunt);
	return err == -ENOENT ? offer_links(hunt) : err;
}

static int search_process(struct hunt *hunt)
{
	if (!has_place(hunt, DEBUG_HOST | DEBUG_TARGET) ||
	    !enter(hunt, DEBUG_TARGET, -1, hunt->search->pid))
		return -ENOENT;
	return search_root(hunt, hunt->search->root);
}

int debug_files__find(struct debug_files *files, const struct debug_search *search,
		      struct debug_file *found)
{
	struct hunt hunt = {.files = files, .search = search};
	int err;

	read_id(&hunt.id, search->elf);
	err = search_symfs(&hunt);
	if (err == -ENOENT)
		err = search_host(&hunt);
	if (err == -ENOENT)
		err = search_process(&hunt);
	if (err == -ENOENT)
		err = search_server(&hunt);
	if (!err)
		*found = hunt.found;
	return err;
}

/* ---- files that are named by debug data ---- */

/* A relative path begins in the folder of the file that names it. */
static int offer_named(struct hunt *hunt, const char *named, enum proof proof)
{
	char path[2 * PATH_MAX];
	size_t length;

	if (named[0] == '/')
		return offer(hunt, named, proof, 0);
	if (rooted__path(hunt->root, hunt->search->elf->fd, path))
		return -ENOENT;
	length = (size_t)(strrchr(path, '/') - path) + 1;
	snprintf(path + length, sizeof(path) - length, "%s", named);
	return offer(hunt, path, proof, 0);
}

/* Files that a machine's packages share are in folders: /.dwz/TRIPLET/NAME. */
static int offer_dwz(struct hunt *hunt, const char *named)
{
	static const char dwz[] = "/.dwz/";
	const char *tail = strstr(named, dwz), *slash = strrchr(named, '/');
	char path[2 * PATH_MAX];

	tail = tail ? tail + strlen(dwz) : slash ? slash + 1 : named;
	snprintf(path, sizeof(path), DEBUG_FOLDER "%s%s", dwz, tail);
	return offer(hunt, path, PROOF_ID, 0);
}

static int search_alternate(struct hunt *hunt, const char *named)
{
	int err = offer_named(hunt, named, PROOF_ID);

	if (err == -ENOENT)
		err = offer_dwz(hunt, named);
	return err == -ENOENT ? offer_id(hunt) : err;
}

static int search_split(struct hunt *hunt, const char *named)
{
	return offer_named(hunt, named, PROOF_LATER);
}

/* In the root of the process, whoever's that is. */
static void enter_process(struct hunt *hunt)
{
	hunt->root = hunt->search->root;
	hunt->place = hunt->root == ROOTED_OURS ? DEBUG_HOST : DEBUG_TARGET;
}

static int search_where_named(struct hunt *hunt, enum debug_place place, const char *named,
			      int (*search)(struct hunt *hunt, const char *named))
{
	bool of_process = !place || place == DEBUG_TARGET;

	if (!enter(hunt, place, place == DEBUG_SYMFS ? hunt->files->symfs : ROOTED_OURS,
		   of_process ? hunt->search->pid : 0))
		return -ENOENT;
	if (of_process)
		enter_process(hunt);
	return search(hunt, named);
}

int debug_files__find_alternate(struct debug_files *files, const struct debug_search *search,
				enum debug_place place, struct debug_file *found)
{
	struct debug_alternate alternate;
	struct hunt hunt = {.files = files, .search = search, .any_content = true};
	int err;

	if (debug_alternate__read(&alternate, search->elf))
		return 1;
	hunt.id = alternate.id;
	err = search_where_named(&hunt, place, alternate.path, search_alternate);
	if (err == -ENOENT)
		err = search_host(&hunt);
	if (err == -ENOENT)
		err = search_server(&hunt);
	if (!err)
		*found = hunt.found;
	return err;
}

int debug_files__find_split(struct debug_files *files, const struct debug_search *search,
			    enum debug_place place, const char *path, struct debug_file *found)
{
	struct hunt hunt = {.files = files, .search = search, .any_content = true};
	int err = search_where_named(&hunt, place, path, search_split);

	if (!err)
		*found = hunt.found;
	return err;
}

/* ---- packages of split units ---- */

/* folder is put in front of the path. */
static int offer_package(struct hunt *hunt, const char *folder, const char *path, size_t length)
{
	char package[2 * PATH_MAX];

	snprintf(package, sizeof(package), "%s%.*s.dwp", folder, (int)length, path);
	return offer(hunt, package, PROOF_LATER, 0);
}

/* Of the program, by its path in the root at hand. */
static int offer_package_of_program(struct hunt *hunt)
{
	char path[PATH_MAX];
	int err;

	if (!program_path(hunt, path))
		return -ENOENT;
	err = offer_package(hunt, "", path, strlen(path));
	return err == -ENOENT ? offer_package(hunt, DEBUG_FOLDER, path, strlen(path)) : err;
}

/* Of the separate file with the debug data: NAME.debug.dwp or NAME.dwp. */
static int search_package_beside(struct hunt *hunt, const char *extension)
{
	char path[PATH_MAX];
	size_t length;
	int err;

	if (rooted__path(hunt->root, hunt->search->elf->fd, path))
		return -ENOENT;
	length = strlen(path);
	err = offer_package(hunt, "", path, length);
	if (err != -ENOENT || length < strlen(extension) ||
	    strcmp(path + length - strlen(extension), extension))
		return err;
	return offer_package(hunt, "", path, length - strlen(extension));
}

static int search_package_of_program(struct hunt *hunt)
{
	int err = -ENOENT;

	if (has_place(hunt, DEBUG_SYMFS) && hunt->files->symfs >= 0 &&
	    enter(hunt, DEBUG_SYMFS, hunt->files->symfs, 0))
		err = offer_package_of_program(hunt);
	if (err != -ENOENT || !enter(hunt, DEBUG_TARGET, -1, hunt->search->pid))
		return err;
	enter_process(hunt);
	return has_place(hunt, hunt->place) ? offer_package_of_program(hunt) : -ENOENT;
}

int debug_files__find_package(struct debug_files *files, const struct debug_search *search,
			      enum debug_place place, struct debug_file *found)
{
	struct hunt hunt = {.files = files, .search = search, .any_content = true};
	int err = search_package_of_program(&hunt);

	if (err == -ENOENT && place)
		err = search_where_named(&hunt, place, ".debug", search_package_beside);
	if (!err)
		*found = hunt.found;
	return err;
}
