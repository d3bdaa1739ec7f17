package command

import (
	"errors"
	"fmt"
	"testing"
)

func TestCode(t *testing.T) {
	tests := map[string]struct {
		err    error
		code   int
		silent bool
	}{
		"done":                      {nil, ExitOK, true},
		"an error":                  {errors.New("x"), ExitFailed, false},
		"wrong usage":               {UsageError{errors.New("x")}, ExitUsage, false},
		"wrong usage, wrapped":      {fmt.Errorf("a: %w", UsageError{errors.New("x")}), ExitUsage, false},
		"no":                        {ExitError{ExitNo}, ExitNo, true},
		"no, wrapped":               {fmt.Errorf("a: %w", ExitError{ExitNo}), ExitNo, true},
		"no, with its reason":       {fmt.Errorf("a: %w", NoError{errors.New("x")}), ExitNo, false},
		"flags that exclude others": {errors.New("if any flags in the group [a b] are set none of the others can be; [a b] were all set"), ExitUsage, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if code, silent := Code(test.err), Silent(test.err); code != test.code || silent != test.silent {
				t.Errorf("code %d, silent %t; want %d, %t", code, silent, test.code, test.silent)
			}
		})
	}
}
