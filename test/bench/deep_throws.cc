// SPDX-License-Identifier: GPL-2.0-or-later
// Recursion to changing depths, some hundred frames, from where an exception leads back: the
// stacks of libgcc's unwinder, of landing pads and of destructors.
#include <map>
#include <stdexcept>
#include <string>

#define DEPTH_MAX 400

struct Guard {
	std::map<std::string, int> &left;
	int depth;
	~Guard() { left[std::to_string(depth)]++; }
};

static int descend(std::map<std::string, int> &left, int depth)
{
	Guard guard{left, depth};

	if (depth == 0)
		throw std::runtime_error(std::to_string(left.size()));
	return descend(left, depth - 1) + 1;
}

int main(void)
{
	std::map<std::string, int> left;

	for (int depth = 0;; depth = (depth + 7) % DEPTH_MAX) {
		try {
			descend(left, depth);
		} catch (const std::runtime_error &error) {
			left[error.what()]++;
		}
	}
}
