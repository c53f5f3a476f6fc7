// SPDX-License-Identifier: GPL-2.0-or-later
/* Real C++: templates within templates, most of whose calls are inlined. */
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

struct shape {
	virtual ~shape() = default;
	virtual double area() const = 0;
};

struct square : shape {
	double side;
	explicit square(double side) : side(side)
	{
	}
	double area() const override
	{
		return side * side;
	}
};

template <class T>
static std::map<std::string, std::vector<T>> by_remainder(const std::vector<T> &all)
{
	std::map<std::string, std::vector<T>> groups;

	for (const auto &one : all) {
		std::ostringstream key;

		key << one % 7;
		groups[key.str()].push_back(one);
	}
	return groups;
}

int main(int argc, char **argv)
{
	std::unordered_map<std::string, std::unique_ptr<shape>> shapes;
	std::regex pattern("([a-z]+)-([0-9]+)");
	std::string name(argv[0]);
	std::vector<long> numbers;
	std::smatch match;
	double sum = 0;

	for (int i = 0; i < argc * 100; i++)
		numbers.push_back(i * 7919 % 104729);
	std::sort(numbers.begin(), numbers.end(), [](long a, long b) { return a > b; });
	std::regex_search(name, match, pattern);
	for (auto &[key, group] : by_remainder(numbers)) {
		std::stable_sort(group.begin(), group.end());
		shapes[key] = std::make_unique<square>(group.size());
	}
	std::function<void(const shape &)> add = [&](const shape &one) { sum += one.area(); };
	for (auto &[key, one] : shapes)
		add(*one);
	std::cout << sum << match.size() << "\n";
}
