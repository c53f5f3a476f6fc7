// SPDX-License-Identifier: GPL-2.0-or-later
// Goroutines that compute, allocate and write: what Go compiles has its own tables and frame
// pointers, and no call-frame information.
package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
)

func fibonacci(n int) int {
	if n < 2 {
		return n
	}
	return fibonacci(n-1) + fibonacci(n-2)
}

func words(n int) int {
	counts := map[string]int{}
	for i := 0; i < n; i++ {
		counts[strings.Repeat(fmt.Sprint(i%97), 3)]++
	}
	keys := make([]string, 0, len(counts))
	for key := range counts {
		keys = append(keys, key)
	}
	sort.Slice(keys, func(i, j int) bool { return counts[keys[i]] < counts[keys[j]] })
	return len(keys)
}

func main() {
	null, err := os.OpenFile("/dev/null", os.O_WRONLY, 0)
	if err != nil {
		os.Exit(1)
	}
	go func() {
		for {
			words(1000)
		}
	}()
	for {
		fmt.Fprintln(null, fibonacci(25))
	}
}
