// Package must reports what a test expects and does not find, at the line of its caller. Comparisons report an error and the test continues;
// NoError, Eventually and what returns a value stop it. It knows nothing of clusters; start reading at Equal and Value.
package must

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// NoError stops the test when err is set.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// NoErrorf is NoError with what was attempted.
func NoErrorf(t testing.TB, err error, format string, args ...any) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", fmt.Sprintf(format, args...), err)
	}
}

// Value returns the result of a call, or stops the test when the call failed: data := must.Value(os.ReadFile(name))(t).
func Value[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		NoError(t, err)
		return value
	}
}

// Equal reports how got differs from want. The subject says of what, such as "phase" or "the operator was touched".
func Equal[T any](t testing.TB, subject string, got, want T, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", subject, diff)
	}
}

// Contain reports which parts a text lacks.
func Contain(t testing.TB, subject, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q:\n%s", subject, part, text)
		}
	}
}

// Lack reports which parts a text contains.
func Lack(t testing.TB, subject, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("%s contains %q:\n%s", subject, part, text)
		}
	}
}

// Fail reports that an operation succeeded, or which parts the message of its error lacks.
func Fail(t testing.TB, operation string, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s succeeds; want an error with %q", operation, parts)
		return
	}
	Contain(t, "the error of "+operation, err.Error(), parts...)
}

// Parse decodes YAML in which every field is known.
func Parse[T any](t testing.TB, text string) T {
	t.Helper()
	var value T
	if err := yaml.UnmarshalStrict([]byte(text), &value); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return value
}

// Timeout is how long tests wait for what takes a few seconds on an idle machine.
const Timeout = 2 * time.Minute

// Eventually repeats a check until it returns no error, and returns how long that took.
func Eventually(t testing.TB, what string, check func() error) time.Duration {
	t.Helper()
	return EventuallyWithin(t, what, Timeout, check)
}

// EventuallyWithin is Eventually with a timeout of the caller's.
func EventuallyWithin(t testing.TB, what string, timeout time.Duration, check func() error) time.Duration {
	t.Helper()
	for start := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		err := check()
		if err == nil {
			return time.Since(start)
		}
		if time.Since(start) > timeout {
			t.Fatalf("wait for %s: not after %s: %v", what, timeout, err)
		}
	}
}
