// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/names/naming.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/names/kernel_names.h"
#include "core/options/trace_options.h"
#include "core/unwind/unwinding.h"
#include "sym/sym.h"
#include "sym/util/error.h"

struct naming {
	struct kernel_namer *namer; /* NULL: names come from kallsyms */
	struct symbolizer *symbolizer;
	const struct unwind_module_list *modules;
	const struct unwinding *unwinding; /* if addresses are wanted; or NULL */
};

int naming__new(struct naming **out, const struct session *session,
		const struct naming_wishes *wishes, struct error *error)
{
	const struct trace_options *options = session__options(session);
	struct sym_settings settings = options->names;
	struct naming *naming;
	int err = sym_settings__check(&settings, error);

	if (err)
		return err;
	settings.files = wishes->files;
	settings.symbols = wishes->symbols;
	settings.starts = wishes->starts;
	settings.passed_files = unwinding__passed_files(session__unwinding(session));
	naming = calloc(1, sizeof(*naming));
	if (!naming)
		return error__set(error, -ENOMEM, "cannot start: out of memory");
	/* If the kernel cannot run the namer, the symbolizer reads kallsyms. */
	if (!options->user_stacks_only && kernel_namer__new(&naming->namer))
		naming->namer = NULL;
	naming->modules = unwinding__modules(session__unwinding(session));
	naming->unwinding = wishes->addresses ? session__unwinding(session) : NULL;
	if (symbolizer__new(&naming->symbolizer, &settings,
			    naming->namer ? kernel_namer__print : NULL, naming->namer)) {
		naming__free(naming);
		return error__set(error, -ENOMEM, "cannot start: out of memory");
	}
	/* Without it nothing is held, and what is gone at the end has no names. */
	if (settings.passed_files)
		(void)symbolizer__start(naming->symbolizer);
	*out = naming;
	return 0;
}

void naming__free(struct naming *naming)
{
	if (!naming)
		return;
	symbolizer__free(naming->symbolizer);
	kernel_namer__free(naming->namer);
	free(naming);
}

struct frame_sources naming__sources(const struct naming *naming)
{
	return (struct frame_sources){.symbolizer = naming->symbolizer,
				      .modules = naming->modules,
				      .unwinding = naming->unwinding};
}

struct symbolizer *naming__symbolizer(struct naming *naming)
{
	return naming->symbolizer;
}
