// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Exceptions without end, from deep below: most of the time goes into the search for the handler.
 * Once the handler is found _Unwind_RaiseException() overwrites its own frame, and its last two
 * instructions are described as if that frame were still there (GCC 12): no stack that is walked
 * from there is complete, nor is libdwfl's.
 */
#include <stdexcept>

namespace {

volatile unsigned long work;

[[gnu::noinline]] void thrown(int depth)
{
	if (depth == 0)
		throw std::runtime_error("deep");
	thrown(depth - 1);
	work = work + 1;
}

} // namespace

int main()
{
	for (;;) {
		try {
			thrown(300);
		} catch (const std::exception &exception) {
			work = work + exception.what()[0];
		}
	}
}
