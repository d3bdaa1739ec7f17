package must

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// recorder keeps what a test would report.
type recorder struct {
	testing.TB
	reported string
	stopped  bool
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) { r.reported += fmt.Sprintf(format, args...) }

func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	r.stopped = true
	runtime.Goexit()
}

func TestChecks(t *testing.T) {
	failed := errors.New("no such file")
	long := strings.Repeat("line\n", 100)
	type sized struct{ Size int }
	tests := map[string]struct {
		check    func(testing.TB)
		reported []string // no report where it is empty
		stops    bool
	}{
		"no error":                     {check: func(t testing.TB) { NoError(t, nil); NoErrorf(t, nil, "read %s", "it") }},
		"an error stops":               {func(t testing.TB) { NoError(t, failed) }, []string{"no such file"}, true},
		"with what was attempted":      {func(t testing.TB) { NoErrorf(t, failed, "read %s", "it") }, []string{"read it: no such file"}, true},
		"a call that failed stops":     {func(t testing.TB) { Value(1, failed)(t) }, []string{"no such file"}, true},
		"equal values":                 {check: func(t testing.TB) { Equal(t, "size", 1, 1) }},
		"what differs is short":        {func(t testing.TB) { Equal(t, "phase", "a", "b") }, []string{"phase (-want +got)", `"a"`, `"b"`}, false},
		"what differs is long":         {func(t testing.TB) { Equal(t, "text", long, long+"end") }, []string{"text (-want +got)", "end"}, false},
		"pointers with equal values":   {check: func(t testing.TB) { Equal(t, "it", &sized{1}, &sized{1}) }},
		"pointers with other values":   {func(t testing.TB) { Equal(t, "it", &sized{1}, &sized{2}) }, []string{"it", "1", "2"}, false},
		"nil differs from empty":       {func(t testing.TB) { Equal(t, "list", nil, []string{}) }, []string{"list"}, false},
		"all parts are there":          {check: func(t testing.TB) { Contain(t, "page", "a b", "a", "b") }},
		"a part is missing":            {func(t testing.TB) { Contain(t, "page", "a b", "a", "c") }, []string{`page lacks "c"`}, false},
		"no part is there":             {check: func(t testing.TB) { Lack(t, "page", "a b", "c") }},
		"a part is there":              {func(t testing.TB) { Lack(t, "page", "a b", "c", "b") }, []string{`page contains "b"`}, false},
		"it fails, as it must":         {check: func(t testing.TB) { Fail(t, "open", failed, "no such") }},
		"it fails with another error":  {func(t testing.TB) { Fail(t, "open", failed, "denied") }, []string{`open lacks "denied"`}, false},
		"it succeeds":                  {func(t testing.TB) { Fail(t, "open", nil, "denied") }, []string{`open succeeds`, `"denied"`}, false},
		"an unknown field":             {func(t testing.TB) { Parse[sized](t, "length: 1") }, []string{"length"}, true},
		"what is there at once":        {check: func(t testing.TB) { Eventually(t, "it", func() error { return nil }) }},
		"the last error at a timeout":  {func(t testing.TB) { EventuallyWithin(t, "it", 0, func() error { return failed }) }, []string{"wait for it: not after 0s: no such file"}, true},
		"what is there after a moment": {check: func(t testing.TB) { EventuallyWithin(t, "it", time.Minute, later()) }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := &recorder{TB: t}
			done := make(chan struct{})
			go func() {
				defer close(done)
				test.check(r)
			}()
			<-done
			if (r.reported != "") != (len(test.reported) > 0) || r.stopped != test.stops {
				t.Errorf("reported %q, stopped %t", r.reported, r.stopped)
			}
			Contain(t, "the report", r.reported, test.reported...)
		})
	}
}

// later is a check that fails twice.
func later() func() error {
	count := 0
	return func() error {
		if count++; count < 3 {
			return errors.New("not yet")
		}
		return nil
	}
}

func TestValues(t *testing.T) {
	Equal(t, "value", Value(1, nil)(t), 1)
	Equal(t, "parsed", Parse[map[string][]int](t, "a: [1, 2]"), map[string][]int{"a": {1, 2}})
}
