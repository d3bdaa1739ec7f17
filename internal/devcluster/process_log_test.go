package devcluster

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

func TestProcessWriteLog(t *testing.T) {
	var long strings.Builder
	for i := range 20_000 { // several blocks
		fmt.Fprintf(&long, "line number %d\n", i)
	}
	tests := map[string]struct {
		content string
		lines   int
		want    string
	}{
		"all":                      {"a\nb\nc\n", -1, "a\nb\nc\n"},
		"none":                     {"a\nb\nc\n", 0, ""},
		"the last":                 {"a\nb\nc\n", 1, "c\n"},
		"two":                      {"a\nb\nc\n", 2, "b\nc\n"},
		"exactly as many":          {"a\nb\nc\n", 3, "a\nb\nc\n"},
		"more than there are":      {"a\nb\nc\n", 9, "a\nb\nc\n"},
		"an unfinished line":       {"a\nb\nc", 1, "c"},
		"empty lines count":        {"a\n\n\n", 2, "\n\n"},
		"an empty log":             {"", 3, ""},
		"two of many":              {long.String(), 2, "line number 19998\nline number 19999\n"},
		"across the end of blocks": {long.String(), 15_000, long.String()[strings.Index(long.String(), "line number 5000\n"):]},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			must.NoError(t, os.WriteFile(path, []byte(test.content), 0o600))
			var got bytes.Buffer
			must.NoError(t, writeLog(t.Context(), &got, path, test.lines, false))
			if got.String() != test.want {
				t.Errorf("got %d bytes %.60q, want %d bytes %.60q", got.Len(), got.String(), len(test.want), test.want)
			}
		})
	}
}

// safeBuffer can be read while it is written to.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) await(t *testing.T, want string) {
	t.Helper()
	for range 500 {
		s.mu.Lock()
		got := s.b.String()
		s.mu.Unlock()
		if got == want {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%q did not come", want)
}

func TestProcessWriteLogFollows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	write := func(text string) {
		file := must.Value(os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))(t)
		defer file.Close()
		fmt.Fprint(file, text)
	}
	write("one\ntwo\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got safeBuffer
	ended := make(chan error, 1)
	go func() { ended <- writeLog(ctx, &got, path, 1, true) }()
	got.await(t, "two\n")
	write("three\n")
	got.await(t, "two\nthree\n")
	must.NoError(t, os.Rename(path, path+".old"))
	write("four\n")
	got.await(t, "two\nthree\nfour\n")
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("the end of following is an error: %v", err)
	}
}

func TestProcessExcerpt(t *testing.T) {
	dir := t.TempDir()
	tests := map[string]struct {
		content string
		want    string
		not     string
	}{
		"short":     {"one\ntwo\n", "\n    one\n    two", ""},
		"empty":     {"", "is empty", "last lines"},
		"long line": {strings.Repeat("x", 1000) + "\n", strings.Repeat("x", maxLine) + "...", strings.Repeat("x", maxLine+1)},
		"large":     {strings.Repeat("early\n", 10_000) + "late\n", "\n    late", "    arly"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name)
			must.NoError(t, os.WriteFile(path, []byte(test.content), 0o600))
			got := excerpt(path)
			if !strings.Contains(got, test.want) || !strings.Contains(got, path) || test.not != "" && strings.Contains(got, test.not) {
				t.Errorf("got %q", got)
			}
		})
	}
	if got := excerpt(filepath.Join(dir, "missing")); !strings.Contains(got, "cannot be read") {
		t.Errorf("without a log: %q", got)
	}
}
