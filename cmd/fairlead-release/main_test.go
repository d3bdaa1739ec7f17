package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestOnlyACommitIsReleased: what is released is identified by a commit, so neither changes nor other files may be in the working tree.
func TestOnlyACommitIsReleased(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		command := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	write := func(name string) {
		t.Helper()
		must.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600))
	}
	run("init", "--quiet")
	write("main.go")
	run("add", ".")
	run("commit", "--quiet", "--message", "first", "--date", "2026-01-02T03:04:05Z")
	hash, made, err := commit(t.Context(), dir)
	if err != nil || len(hash) != 40 || made.IsZero() {
		t.Fatalf("of a clean tree: %q at %v, %v", hash, made, err)
	}
	write("ca-certificates.crt")
	if _, _, err := commit(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "ca-certificates.crt") || !strings.Contains(err.Error(), "outside of it") {
		t.Errorf("with another file in the tree: %v", err)
	}
	if _, _, err := commit(t.Context(), filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("outside of a repository there is a commit")
	}
}

// TestVersionOfACommit is the highest version among its tags, or as Go names a commit.
func TestVersionOfACommit(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		command := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	run("init", "--quiet")
	run("commit", "--quiet", "--allow-empty", "--message", "first")
	hash, made, err := commit(t.Context(), dir)
	must.NoError(t, err)
	o := Options{Source: dir, Commit: hash, Time: made}
	if got, err := versionOf(t.Context(), o); err != nil || got != "v0.0.0-"+made.UTC().Format("20060102150405")+"-"+hash[:12] {
		t.Errorf("without a tag: %s, %v", got, err)
	}
	for _, tag := range []string{"v1.9.0", "v1.10.0", "latest", "w2"} {
		run("tag", tag)
	}
	if got, err := versionOf(t.Context(), o); err != nil || got != "v1.10.0" {
		t.Errorf("with tags: %s, %v", got, err)
	}
}

// TestWhatIsRefusedAtOnce is said before anything is built.
func TestWhatIsRefusedAtOnce(t *testing.T) {
	o := Options{Source: t.TempDir(), Out: filepath.Join(t.TempDir(), "out")}
	must.Fail(t, "run", run(t.Context(), o, "registry.example.com/manager:v1", filepath.Join(t.TempDir(), "none")), "read the signing key")
	must.Fail(t, "without --out", run(t.Context(), Options{}, "", ""), "--out")
	o.Image = "registry.example.com/other:v1"
	must.Fail(t, "two tags", run(t.Context(), o, "registry.example.com/manager:v1", ""), "leave --image out")
	if _, err := os.Stat(o.Out); err == nil {
		t.Error("something was written")
	}
}
