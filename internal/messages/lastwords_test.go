package messages

import (
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestLastWords(t *testing.T) {
	for name, c := range map[string]struct{ log, want string }{
		"nothing":        {"\n", ""},
		"one line":       {"cannot connect\n", "cannot connect"},
		"the last":       {"starting\ncannot connect \r\n\n", "cannot connect"},
		"a panic":        {"starting\npanic: assignment to entry in nil map\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:7 +0x18\n", "panic: assignment to entry in nil map"},
		"out of memory":  {"fatal error: runtime: out of memory\n\nruntime stack:\n", "fatal error: runtime: out of memory"},
		"of the last":    {"panic: one\ngoroutine 1\npanic: two\ngoroutine 1\n", "panic: two"},
		"not a panic":    {"the word panic: is in a line\nready\n", "ready"},
		"panicked again": {"panic: one [recovered]\n\tpanic: one\n\ngoroutine 1 [running]:\n", "panic: one [recovered]"},
	} {
		must.Equal(t, name, LastWords(c.log), c.want)
	}
}
