// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/elf/demangle.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sym/elf/file.h"
#include "sym/elf/symbols.h"
#include "sym/elf/work.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

/*
 * The form of a symbol, until the next call; NULL if it stays as it is. A symbol that ran out of
 * its CPU time is asked for again: a virtual machine counts time that others have had.
 */
static const char *form_of(const char *symbol)
{
	static char text[DEMANGLED_SIZE];

	for (int tries = 0; tries < 5; tries++) {
		unsigned int patience = 1;

		memset(text, '#', sizeof(text));
		if (demangle(symbol, text, &patience)) {
			CHECK(memchr(text, '\0', sizeof(text)));
			return text;
		}
		if (patience)
			return NULL;
	}
	return NULL;
}

/* How long the form of a symbol is; 0 if it has none. */
static size_t form_length(const char *symbol)
{
	const char *form = form_of(symbol);

	return form ? strlen(form) : 0;
}

/* Pairs of a symbol and its form; NULL: it has none. */
static void check_forms(const char *const pairs[][2], size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const char *form = form_of(pairs[i][0]);
		bool right = form && pairs[i][1] ? !strcmp(form, pairs[i][1]) : form == pairs[i][1];

		tap_check(right, __FILE__, __LINE__, "'%s' becomes '%s'", pairs[i][0],
			  form ? form : "(nothing)");
	}
}

#define CHECK_FORMS(pairs) check_forms(pairs, ARRAY_SIZE(pairs))

static void cxx_functions(void)
{
	static const char *const pairs[][2] = {
		{"_Z3addii", "add(int, int)"},
		{"_Z3fooPKcz", "foo(char const*, ...)"},
		{"_ZNK3foo3bar3bazEv", "foo::bar::baz() const"},
		{"_ZN1AC1Ev", "A::A()"},
		{"_ZN1AD0Ev", "A::~A()"},
		{"_ZThn8_N1A1fEv", "non-virtual thunk to A::f()"},
		{"_ZTV1A", "vtable for A"},
		{"_ZGVZ4mainE1x", "guard variable for main::x"},
		{"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const"},
		{"_ZN12_GLOBAL__N_14workEv", "(anonymous namespace)::work()"},
		{"_ZNK3foo3barB5cxx11Ev", "foo::bar[abi:cxx11]() const"},
		{"_ZN6TaggedB2v2C1Ev", "Tagged[abi:v2]::Tagged()"},
	};

	CHECK_FORMS(pairs);
}

static void cxx_templates(void)
{
	static const char *const pairs[][2] = {
		{"_ZSt4sortIPiEvT_S1_", "void std::sort<int*>(int*, int*)"},
		{"_ZNSt6vectorIiSaIiEE9push_backEOi",
		 "std::vector<int, std::allocator<int> >::push_back(int&&)"},
		{"_Z4funcILi3EEvRAT__c", "void func<3>(char (&) [3])"},
		{"_Z7forwardIJicEEvDpOT_", "void forward<int, char>(int&&, char&&)"},
	};

	CHECK_FORMS(pairs);
}

static void cxx_operators(void)
{
	static const char *const pairs[][2] = {
		{"_ZN1AplERKS_", "A::operator+(A const&)"},
		{"_ZN1AcviEv", "A::operator int()"},
		{"_ZN1AixEi", "A::operator[](int)"},
		{"_ZN1AclEi", "A::operator()(int)"},
		{"_Zaa1A1B", "operator&&(A, B)"},
		{"_Zli2_wPKc", "operator\"\" _w(char const*)"},
		{"_Znwm", "operator new(unsigned long)"},
		{"_ZdlPv", "operator delete(void*)"},
	};

	CHECK_FORMS(pairs);
}

static void parts_of_cxx_functions(void)
{
	static const char *const pairs[][2] = {
		{"_ZN3foo3barEv.cold", "foo::bar() [clone .cold]"},
		{"_ZN3foo3barEv.part.0.constprop.1",
		 "foo::bar() [clone .part.0] [clone .constprop.1]"},
		{"_ZN3foo3barEv.llvm.123456", "foo::bar() [clone .llvm.123456]"},
		{"_Z3foov.isra.0.cold", "foo() [clone .isra.0] [clone .cold]"},
		{"_Z3fooIiEvT_.part.0.cold", "void foo<int>(int) [clone .part.0] [clone .cold]"},
		{"_Z3foov.lto_priv.0", "foo() [clone .lto_priv.0]"},
	};

	CHECK_FORMS(pairs);
}

/* Today's names of GCC have no form; its earlier names have one. */
static void static_constructors(void)
{
	static const char *const pairs[][2] = {
		{"_GLOBAL__sub_I_main.cc", NULL},
		{"_GLOBAL__sub_I__ZN3foo3barEv", NULL},
		{"_GLOBAL__I_main", "global constructors keyed to main"},
		{"_GLOBAL__D__ZN3foo3barEv", "global destructors keyed to foo::bar()"},
	};

	CHECK_FORMS(pairs);
}

static void rust_v0(void)
{
	static const char *const pairs[][2] = {
		{"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
		{"_RNvC7mycrate3foo.llvm.ABCD", "mycrate::foo"},
		{"_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>"},
		{"_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3new", "<std::path::PathBuf>::new"},
		{"_RNCNvC1a4main0", "a::main::{closure#0}"},
		{"_RNvXs_C1aNtB4_1ANtB4_1B1f", "<a::A as a::B>::f"},
		/* Punycode: "über" */
		{"_RNvC1au7ber_goa", "a::\xc3\xbc"
				     "ber"},
	};

	CHECK_FORMS(pairs);
}

static void rust_legacy(void)
{
	static const char *const pairs[][2] = {
		{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
		{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE.llvm.42",
		 "core::fmt::Formatter::pad"},
		{"_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$"
		 "3fmt17h1a2b3c4d5e6f7a8bE",
		 "<alloc::string::String as core::fmt::Display>::fmt"},
		/* No hash has so few different digits: this is C++. */
		{"_ZN4core3fmt17h0000000000000000E", "core::fmt::h0000000000000000"},
		{"_ZN17h0123456789abcdefE", "h0123456789abcdef"},
	};

	CHECK_FORMS(pairs);
}

static void suffixes(void)
{
	static const char *const pairs[][2] = {
		{"_ZN3foo3barEv@plt", "foo::bar()@plt"},
		{"_ZN3foo3barEv.cold@plt", "foo::bar() [clone .cold]@plt"},
		{"_RNvC7mycrate3foo@plt", "mycrate::foo@plt"},
		{"_ZNSo3putEc@@GLIBCXX_3.4", "std::ostream::put(char)@@GLIBCXX_3.4"},
		{"_ZNSo3putEc@GLIBCXX_3.4", "std::ostream::put(char)@GLIBCXX_3.4"},
		{"_Z3foov@", "foo()@"},
		{"_Z3foov@@V@@_Z3foov", "foo()@@V@@_Z3foov"},
		{"malloc@plt", NULL},
		{"@plt", NULL},
		{"_Z@plt", NULL},
		{"_Z3fo@o", NULL},
	};

	CHECK_FORMS(pairs);
}

static void names_of_c(void)
{
	static const char *const pairs[][2] = {
		{"", NULL},	     {"_", NULL},      {"main", NULL},	   {"malloc", NULL},
		{"Z3foov", NULL},    {"R", NULL},      {" _Z3foov", NULL}, {"__Z3foov", NULL},
		{"std::sort", NULL}, {"foo()", NULL},  {"foo.cold", NULL}, {"vfs_read", NULL},
		{"i", NULL},	     {"_init", NULL},  {"_IO_puts", NULL}, {"3foo", NULL},
		{"_GLOBAL", NULL},   {"_start", NULL},
	};

	CHECK_FORMS(pairs);
}

/* Go's names say all as they are. */
static void names_of_go(void)
{
	static const char *const pairs[][2] = {
		{"main.main", NULL},
		{"main.(*T).Method", NULL},
		{"main.(*stack[...]).push", NULL},
		{"main.main.func1", NULL},
		{"type..eq.foo", NULL},
		{"go.(*struct { sync.Mutex; x int }).Lock", NULL},
		{"github.com/a/b.F", NULL},
		{"_rt0_amd64_linux", NULL},
		{"_cgo_panic", NULL},
		{"_Registry/a.F", NULL},
		{"_Zoo/a.(*B).C", NULL},
	};

	CHECK_FORMS(pairs);
}

static void names_that_look_mangled(void)
{
	static const char *const pairs[][2] = {
		{"_Z", NULL},
		{"_ZN", NULL},
		{"_Zebra", NULL},
		{"_Z3fo", NULL},
		{"_ZN3foo", NULL},
		{"_Z3foov_not", NULL},
		{"_Z3foov ", NULL},
		{"_Z99999999999999999999foov", NULL},
		{"_Z-3foov", NULL},
		{"_Z1fDpT_", NULL},
		{"_Z1fS9_", NULL},
		{"_ZN3foo3barEv+0x10", NULL},
		{"_R", NULL},
		{"_R2D2", NULL},
		{"_Registry", NULL},
		{"_RNvC7mycrate", NULL},
		{"_RNvB_3foo", NULL},
		{"_RNvC3aaa3foo$", NULL},
		{"_GLOBAL_", NULL},
		{"_GLOBAL__I_", NULL},
		{"_GLOBAL_OFFSET_TABLE_", NULL},
	};

	CHECK_FORMS(pairs);
}

/* ---- demangle_name() ---- */

static void names_without_parameters(void)
{
	static const char *const pairs[][2] = {
		{"_Z3addii", "add"},
		{"_ZNK3foo3bar3bazEv", "foo::bar::baz"},
		{"_ZSt4sortIPiEvT_S1_", "std::sort<int*>"},
		{"_ZNSo3putEc@@GLIBCXX_3.4", "std::ostream::put@@GLIBCXX_3.4"},
		{"_ZN1AC1Ev", "A::A"},
		{"_ZplRK1AS1_", "operator+"},
		{"_ZThn8_N1A1fEv", "non-virtual thunk to A::f()"},
		{"_ZN3foo3barEv.cold", "foo::bar.cold"},
		{"_ZN3foo3barEv.constprop.0.isra.0", "foo::bar.constprop.0.isra.0"},
		{"_ZN3foo3barEv.cold@plt", "foo::bar.cold@plt"},
		{"_RNvC7mycrate3foo", "mycrate::foo"},
		{"_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$"
		 "3fmt17h1a2b3c4d5e6f7a8bE",
		 "<alloc::string::String as core::fmt::Display>::fmt"},
		{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE.llvm.42",
		 "core::fmt::Formatter::pad"},
		{"_Z", NULL},
		{"_Z.cold", NULL},
		{"_ZN3foo", NULL},
		{"main", NULL},
		{"", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		char text[DEMANGLED_SIZE];
		bool done = demangle_name(pairs[i][0], text, &(unsigned int){1});

		CHECK_STR(done ? text : NULL, pairs[i][1]);
	}
}

/* ---- sizes ---- */

/*
 * A symbol whose form has so many bytes, at least 4,000: "f...f(p...p, p...p, ...)" with five
 * parameters of one type, and the rest in the function's name.
 */
static char *make_symbol(size_t form_size)
{
	const size_t parameter = 780;
	size_t function = form_size - 5 * parameter - strlen("(, , , , )");
	char *symbol = malloc(2048), *end = symbol;

	end += sprintf(end, "_Z%zu", function);
	memset(end, 'f', function);
	end += function;
	end += sprintf(end, "%zu", parameter);
	memset(end, 'p', parameter);
	strcpy(end + parameter, "S_S_S_S_");
	return symbol;
}

static void forms_that_just_fit(void)
{
	for (size_t size = DEMANGLED_SIZE - 3; size < DEMANGLED_SIZE + 3; size++) {
		CLEANUP_FREE char *symbol = make_symbol(size);

		CHECK_INT(form_length(symbol), size < DEMANGLED_SIZE ? size : 0);
	}
}

/* A template within itself, again and again, in so many bytes. */
static char *make_deep_symbol(size_t size)
{
	char *symbol = malloc(size + 1);
	size_t depth = (size - strlen("_Z1f") - strlen("i")) / strlen("1aIE"), used;

	used = (size_t)sprintf(symbol, "_Z1f");
	for (size_t i = 0; i < depth; i++)
		used += (size_t)sprintf(symbol + used, "1aI");
	used += (size_t)sprintf(symbol + used, "i");
	memset(symbol + used, 'E', depth);
	symbol[used + depth] = '\0';
	return symbol;
}

static void symbols_that_are_long(void)
{
	CLEANUP_FREE char *two = make_deep_symbol(2000);
	CLEANUP_FREE char *four = make_deep_symbol(DEMANGLED_SIZE - 1);
	const char *form = form_of(two);

	CHECK(form && !strncmp(form, "f(a<a<a<", 8));
	/* Too deep to be printed, but that is all. */
	form_of(four);
}

static void suffixes_that_just_fit(void)
{
	for (size_t size = DEMANGLED_SIZE - 7; size < DEMANGLED_SIZE; size++) {
		CLEANUP_FREE char *symbol = make_symbol(size);
		const char *form = form_of(strcat(symbol, "@plt"));

		if (size + strlen("@plt") < DEMANGLED_SIZE) {
			CHECK_INT(form ? strlen(form) : 0, size + strlen("@plt"));
			CHECK_STR(form + size, "@plt");
		} else {
			CHECK(!form);
		}
	}
}

/* All behind an @ is copied, however long. */
static void endless_suffix(void)
{
	const size_t size = 1 << 20;
	CLEANUP_FREE char *symbol = malloc(size);

	memset(symbol, 'x', size);
	memcpy(symbol, "_Z3foov@", 8);
	symbol[size - 1] = '\0';
	CHECK(!form_of(symbol));
	symbol[DEMANGLED_SIZE - 1] = '\0';
	CHECK(form_of(symbol));
}

static void endless_symbols(void)
{
	static const char *const starts[] = {"_Z", "_ZN", "_R", "_RNv", "_GLOBAL__I_", "x"};
	static const char fillings[] = "1aNIRSTP_EKCGM0";
	const size_t size = 1 << 16;
	CLEANUP_FREE char *symbol = malloc(size);

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		for (size_t f = 0; f < strlen(fillings); f++) {
			memset(symbol, fillings[f], size);
			memcpy(symbol, starts[i], strlen(starts[i]));
			/* From far too long to hardly longer than its start. */
			for (size_t length = size - 1; length > 16; length /= 2) {
				symbol[length] = '\0';
				form_of(symbol);
			}
		}
	}
}

/* ---- hostile symbols ---- */

/* Name i of the substitutions of a C++ symbol: S_, S0_, ... S9_, SA_, ... SZ_, S10_ */
static char *append_substitution(char *end, unsigned int i)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	*end++ = 'S';
	if (i > 36)
		*end++ = digits[(i - 1) / 36];
	if (i > 0)
		*end++ = digits[(i - 1) % 36];
	*end++ = '_';
	*end = '\0';
	return end;
}

/*
 * "void f<void>(X<a<void, void>, A<a, a>, B<A, A>, ...>)", where each template is
 * given the one before twice, of which only a<void, void> is spelled out: so the
 * form doubles with each of some ten bytes.
 */
static char *make_bomb(const char *start, unsigned int doublings)
{
	char *symbol = malloc(64 + 16 * doublings), *end = symbol;

	end += sprintf(end, "%s1XI1aIvvE", start);
	for (unsigned int i = 0; i < doublings; i++) {
		end += sprintf(end, "1%cI", 'A' + i % 26);
		end = append_substitution(end, 3 + 2 * i);
		end = append_substitution(end, 3 + 2 * i);
		*end++ = 'E';
	}
	strcpy(end, "E");
	return symbol;
}

/* A form of 2 to the power of 35 times some bytes: it stays mangled, and is not written out. */
static void form_that_doubles(void)
{
	CLEANUP_FREE char *harmless = make_bomb("_Z1fIvEv", 2);
	CLEANUP_FREE char *symbol = make_bomb("_Z1fIvEv", 35);

	CHECK_STR(form_of(harmless), "void f<void>(X<a<void, void>, "
				     "A<a<void, void>, a<void, void> >, "
				     "B<A<a<void, void>, a<void, void> >, "
				     "A<a<void, void>, a<void, void> > > >)");
	CHECK(strlen(symbol) < 500);
	CHECK(!form_of(symbol));
}

/* The same in Rust: tuples of two of the one before. */
static void rust_form_that_doubles(void)
{
	static const char digits[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char symbol[1024] = "_RIC1a";
	char *end = symbol + strlen(symbol);
	size_t previous = (size_t)(end - symbol) - 2; /* where "Tuu" will be, behind the "_R" */

	end += sprintf(end, "TuuE");
	for (int i = 0; i < 40; i++) {
		size_t here = (size_t)(end - symbol) - 2;
		char backref[8];

		/*
		 * A base-62 number is one less than what it stands for; all here have two digits.
		 */
		if (previous > 62)
			snprintf(backref, sizeof(backref), "B%c%c_", digits[(previous - 1) / 62],
				 digits[(previous - 1) % 62]);
		else
			snprintf(backref, sizeof(backref), "B%c_", digits[previous - 1]);
		end += sprintf(end, "T%s%sE", backref, backref);
		previous = here;
	}
	strcpy(end, "E");
	CHECK(!form_of(symbol));
	/* The first two of them are harmless. */
	strcpy(symbol + strlen("_RIC1aTuuETB4_B4_E"), "E");
	CHECK_STR(form_of(symbol), "a::<((), ()), (((), ()), ((), ()))>");
}

/* A crate may have no name; a symbol without any name is better left mangled. */
static void empty_names(void)
{
	static const char *const pairs[][2] = {
		{"_RC0", NULL},
		{"_RC0@plt", NULL},
		{"_RNvCs_0_0", NULL},
		{"_RNvC03foo", "::foo"},
	};

	CHECK_FORMS(pairs);
}

/* Symbols that keep libiberty busy for years, while it prints nothing (or not yet). */
static void symbols_without_an_end(void)
{
	/* "Dp": it looks for a parameter pack in all of the form, before it prints anything. */
	CLEANUP_FREE char *pack = make_bomb("_Z1fIvEvDp", 35);
	/* Conversion operators, in a template argument of each other: it reads each twice. */
	char conversions[512] = "_Z";
	const char *const symbols[] = {
		pack,
		conversions,
		/* Lifetimes, so many that it does not end, in a path that is not printed. */
		"_RMIC1aFGzzzzzzzzzz_EuEu",
		"_RC1aIC1bFGzzzzzzzzzz_EuE",
	};

	for (int i = 0; i < 35; i++)
		strcat(conversions, "cvT_IL_Z");
	strcat(conversions, "cvT_IvE");
	for (int i = 0; i < 35; i++)
		strcat(conversions, "EE");
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		unsigned int patience = 2;
		char text[DEMANGLED_SIZE];

		tap_check(!demangle(symbols[i], text, &patience), __FILE__, __LINE__, "symbol %zu",
			  i);
		CHECK_INT(patience, 1);
		CHECK(demangle("_Z3foov", text, &patience));
		CHECK(!demangle(symbols[i], text, &patience));
		CHECK_INT(patience, 0);
		CHECK(!demangle("_Z3foov", text, &patience));
		CHECK_INT(patience, 0);
	}
}

static void long_forms_cost_no_patience(void)
{
	CLEANUP_FREE char *symbol = make_bomb("_Z1fIvEv", 35);
	unsigned int patience = 1;
	char text[DEMANGLED_SIZE];

	CHECK(!demangle(symbol, text, &patience));
	CHECK_INT(patience, 1);
}

/* The memory that is in use, wherever malloc() counts it. */
static size_t used_memory(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* An identifier: "xxx", and then U+0080 again and again, in Punycode of length bytes. */
static char *append_punycode(char *end, size_t length)
{
	end += sprintf(end, "u%zu_xxx_", length);
	memset(end, 'a', length - strlen("xxx_"));
	end += length - strlen("xxx_");
	*end = '\0';
	return end;
}

/* A path of so many such identifiers, of 254 bytes each, and of a last one. */
static char *make_punycode(size_t nr, size_t last)
{
	char *symbol = malloc(4096), *end = symbol;

	end += sprintf(end, "_R");
	for (size_t i = 0; i < nr; i++)
		end += sprintf(end, "Nv");
	end += sprintf(end, "C");
	for (size_t i = 0; i < nr; i++)
		end = append_punycode(end, 254);
	append_punycode(end, last);
	return symbol;
}

/* Punycode is decoded in memory, which must not be lost where the form turns out too long. */
static void long_forms_of_punycode(void)
{
	/* 8 times 3 + 2 * 250 bytes, and "::" */
	CLEANUP_FREE char *fits = make_punycode(8, 30);
	CLEANUP_FREE char *too_long = make_punycode(8, 31);
	CLEANUP_FREE char *much_too_long = make_punycode(8, 254);
	size_t before;

	CHECK_INT(form_length(fits), 8 * (503 + 2) + 3 + 2 * 26);
	CHECK(!form_of(too_long));
	before = used_memory();
	for (int i = 0; i < 20; i++)
		CHECK(!form_of(much_too_long));
	CHECK(used_memory() < before + 8192);
}

/* Identifiers that nobody uses in earnest, and the numbers that they begin with. */
static void endless_punycode(void)
{
	CLEANUP_FREE char *fits = make_punycode(0, 255);
	CLEANUP_FREE char *too_long = make_punycode(0, 256);
	char symbol[512];

	CHECK_INT(form_length(fits), 3 + 2 * 251);
	CHECK(!form_of(too_long));
	/* 2^64 + 256, which libiberty takes for 256 */
	snprintf(symbol, sizeof(symbol), "_RCu18446744073709551872_%s",
		 too_long + strlen("_RCu256_"));
	CHECK(!form_of(symbol));
	/* Nothing but part of a name: there are not so many bytes behind it. */
	CHECK_STR(form_of("_RNvC1a9from_u512"), "a::from_u512");
	CHECK_STR(form_of("_RNvNvC1a9from_u5121b"), "a::from_u512::b");
}

/* Bytes that a fixed generator makes, of those that mean something and of all. */
static void garbage(void)
{
	static const char *const starts[] = {"_Z", "_ZN", "_R", "_RINv", "_GLOBAL__I__Z"};
	static const char letters[] = "_ZNSTIEKRPOLXJDpCFGAMUBstuvdclLC0123456789abcfi$.@h";
	uint32_t random = 1;

	for (int i = 0; i < 20000; i++) {
		const char *start = starts[i % ARRAY_SIZE(starts)];
		char symbol[128];
		size_t length = strlen(start);

		strcpy(symbol, start);
		while (length < sizeof(symbol) - 1) {
			random = random * 1664525 + 1013904223;
			if (random >> 24 < 4)
				break;
			symbol[length++] = i % 3 ? letters[(random >> 16) % strlen(letters)] :
						   (char)(random >> 16 | 1);
		}
		symbol[length] = '\0';
		form_of(symbol);
	}
}

/* ---- a real library ---- */

struct name_writer {
	const struct elf_file *elf;
	FILE *names;
};

static int write_name(void *context, const struct elf_symbol *symbol)
{
	const struct name_writer *to = context;
	char name[ELF_SYMBOLS_NAME_MAX + 1];

	elf_file__string(to->elf, elf_symbols__names(to->elf, symbol), symbol->name, name,
			 sizeof(name));
	return fprintf(to->names, "%s\n", name) < 0 ? -EIO : 0;
}

/* The names of all functions of libstdc++, a line each; NULL if it is not there. */
static FILE *library_names(void)
{
	static const char *const paths[] = {
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/usr/lib/aarch64-linux-gnu/libstdc++.so.6",
		"/usr/lib64/libstdc++.so.6",
	};
	const struct work all = work__share(&(uint64_t){ELF_SYMBOLS_WORK}, UINT64_MAX);
	CLEANUP_CLOSE int fd = -1;
	struct elf_file elf;
	struct name_writer to = {.elf = &elf};

	for (size_t i = 0; i < ARRAY_SIZE(paths) && fd < 0; i++)
		fd = open(paths[i], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || elf_file__open(&elf, fd))
		return NULL;
	to.names = tmpfile();
	if (to.names)
		CHECK_INT(elf_symbols__each_function(&elf, &all, write_name, &to), 0);
	elf_file__close(&elf);
	return to.names;
}

/* The forms of these lines by c++filt. */
static FILE *filter(FILE *names)
{
	char command[64];

	/* Not "std::basic_ostream<char, std::char_traits<char> >", nor hashes. */
	snprintf(command, sizeof(command), "c++filt --no-verbose </proc/self/fd/%d", fileno(names));
	rewind(names);
	return popen(command, "re");
}

/* Line by line; returns how many have a form. */
static size_t compare_forms(FILE *names, FILE *forms)
{
	char symbol[ELF_SYMBOLS_NAME_MAX + 2], wanted[64 * 1024];
	size_t mangled = 0;

	while (fgets(symbol, sizeof(symbol), names) && fgets(wanted, sizeof(wanted), forms)) {
		const char *form;

		symbol[strcspn(symbol, "\n")] = wanted[strcspn(wanted, "\n")] = '\0';
		form = form_of(symbol);
		mangled += form != NULL;
		/* Forms that are too long are no matter of this test. */
		if (strlen(wanted) < DEMANGLED_SIZE)
			CHECK_STR(form ? form : symbol, wanted);
	}
	return mangled;
}

static void all_of_a_library(void)
{
	FILE *names = library_names();
	FILE *forms;

	if (!names || system("c++filt --no-verbose _Z1fv >/dev/null 2>&1")) {
		tap_skip("there is no libstdc++ or no c++filt");
		return;
	}
	forms = filter(names);
	rewind(names);
	CHECK(forms && compare_forms(names, forms) > 1000);
	if (forms)
		CHECK_INT(pclose(forms), 0);
	fclose(names);
}

/*
 * A sanitizer slows libiberty down so much that the time can be over while it decodes a Punycode
 * identifier, whose buffer is then left behind: see demangle.c. It asks for this.
 */
const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:print_ident";
}

static const struct tap_test tests[] = {
	{"C++ functions", cxx_functions},
	{"C++ templates", cxx_templates},
	{"symbols of thousands of bytes", symbols_that_are_long},
	{"C++ operators", cxx_operators},
	{"parts and clones of C++ functions say so", parts_of_cxx_functions},
	{"static constructors are left as they are, unless they are of old compilers",
	 static_constructors},
	{"Rust functions, v0", rust_v0},
	{"Rust functions of the legacy form, without their hash", rust_legacy},
	{"versions and @plt are kept", suffixes},
	{"names of C are left as they are", names_of_c},
	{"names of Go are left as they are", names_of_go},
	{"names that only look mangled are left as they are", names_that_look_mangled},
	{"names alone, as one would ask for them", names_without_parameters},
	{"a form of up to 4,095 bytes fits, a longer one stays mangled", forms_that_just_fit},
	{"so it is with what stands behind the @", suffixes_that_just_fit},
	{"a version of a megabyte", endless_suffix},
	{"symbols that repeat one letter up to 64 KB", endless_symbols},
	{"names of nothing", empty_names},
	{"a C++ form of terabytes stays mangled", form_that_doubles},
	{"a Rust form of terabytes stays mangled", rust_form_that_doubles},
	{"a symbol that takes too long stays mangled, and takes patience", symbols_without_an_end},
	{"a form that is too long takes no patience", long_forms_cost_no_patience},
	{"a form that is too long leaves no memory behind, in Punycode either",
	 long_forms_of_punycode},
	{"a name of more Punycode than anyone has stays mangled", endless_punycode},
	{"garbage", garbage},
	{"all functions of libstdc++, as c++filt shows them", all_of_a_library},
};

int main(void)
{
	return TAP_RUN(tests);
}
