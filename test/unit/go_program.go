// SPDX-License-Identifier: GPL-2.0-or-later

// Functions of several kinds: methods, generic ones, closures, what the compiler makes.
package main

type pair struct {
	a, b interface{}
}

type thing struct{ n int }

//go:noinline
func (t *thing) Sum(m int) int { return t.n + m }

type stack[T any] struct{ items []T }

//go:noinline
func (s *stack[T]) push(item T) { s.items = append(s.items, item) }

//go:noinline
func apply(f func(int) int, n int) int { return f(n) }

func main() {
	t := &thing{1}
	things, numbers := stack[*thing]{}, stack[int]{}

	things.push(t)
	numbers.push(apply(func(n int) int { return t.Sum(n) }, 2))
	println(interface{}(pair{1, 2}) == interface{}(pair{t, numbers.items[0]}))
}
