package catalog

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

// expected is the file of an archive that holds what Load, Validate and
// NewIndex make of the others.
const expected = "expected"

// archives lists the small catalogs: those of testdata tell stories of many
// objects, those in its folder rules show one rule each.
func archives(t testing.TB) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"testdata/*.txtar", "testdata/rules/*/*.txtar"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no archives %s (%v)", pattern, err)
		}
		all = append(all, found...)
	}
	return all
}

// TestGolden runs the small catalogs in testdata. Each archive is one catalog,
// and says in its comment what it shows.
func TestGolden(t *testing.T) {
	for _, name := range archives(t) {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(name), "testdata/"), ".txtar"), func(t *testing.T) {
			archive := must.Value(txtar.ParseFile(name))(t)
			fsys, want := fstest.MapFS{}, ""
			var kept []txtar.File
			for _, f := range archive.Files {
				if f.Name == expected {
					want = string(f.Data)
					continue
				}
				fsys[f.Name] = &fstest.MapFile{Data: f.Data}
				kept = append(kept, f)
			}
			got := outcome(t, fsys)
			if *update {
				archive.Files = append(kept, txtar.File{Name: expected, Data: []byte(got)})
				must.NoError(t, os.WriteFile(name, txtar.Format(archive), 0o644))
				return
			}
			must.Equal(t, string(archive.Comment), got, want)
		})
	}
}

// outcome describes what becomes of a catalog: the problems, then the index.
func outcome(t *testing.T, fsys fstest.MapFS) string {
	t.Helper()
	c, err := Load(context.Background(), fsys, LoadOptions{Workers: 2})
	problems := Validate(c)
	var out bytes.Buffer
	for _, p := range problems {
		fmt.Fprintln(&out, p)
	}
	var invalid *InvalidError
	if err != nil && !errors.As(err, &invalid) {
		t.Fatalf("Load: %v", err)
	}
	for _, o := range c.Others {
		fmt.Fprintf(&out, "other %s %s: %s\n", o.Position, Object{o.Schema, o.Package, o.Name}, o.Blob)
	}
	x, err := NewIndex(c, "sha256:0")
	must.NoErrorf(t, err, "NewIndex")
	if diff := cmp.Diff(problems, x.Problems()); diff != "" {
		t.Errorf("problems of the index differ from those of Validate:\n%s", diff)
	}
	dump(t, &out, x)
	return out.String()
}

func dump(t *testing.T, out *bytes.Buffer, x *Index) {
	t.Helper()
	for _, name := range x.PackageNames() {
		p, _ := x.Package(name)
		fmt.Fprintf(out, "package %s, default channel %q%s\n", name, p.DefaultChannel, deprecation(p.Deprecation))
		for _, c := range p.Channels {
			fmt.Fprintf(out, "  channel %s, head %s%s\n", c.Name, c.Head, deprecation(c.Deprecation))
			for _, e := range c.Entries {
				fmt.Fprintf(out, "    %s %s%s\n", e.Name, e.Bundle.Version, edges(e))
			}
		}
		shown := map[*BundleInfo]bool{}
		for _, c := range p.Channels {
			for _, e := range c.Entries {
				if b, _ := x.Bundle(name, e.Name); b != e.Bundle {
					t.Errorf("entry %s has another bundle than the index", e.Name)
				} else if !shown[b] {
					shown[b] = true
					dumpBundle(t, out, x, b)
				}
			}
		}
	}
	dumpV1(t, out, x)
}

// dumpV1 shows what v1 serves more than v0, and what neither does.
func dumpV1(t *testing.T, out *bytes.Buffer, x *Index) {
	t.Helper()
	for _, name := range x.PackageNamesV1() {
		p, ok := x.PackageV1(name)
		if !ok {
			t.Fatalf("there is no package %s, whose name is there", name)
		}
		for _, c := range p.Channels {
			if c.Head != "" {
				continue
			}
			fmt.Fprintf(out, "v1 package %s, channel %s%s\n", name, c.Name, deprecation(c.Deprecation))
			for _, e := range c.Entries {
				if b, _ := x.BundleV1(name, e.Name); b != e.Bundle {
					t.Errorf("entry %s has another bundle than the index under v1", e.Name)
				}
				fmt.Fprintf(out, "    %s %s%s\n", e.Name, e.Bundle.Version, edges(e))
			}
		}
		for _, u := range p.Unusable {
			version := "an unknown version"
			if u.Version != nil {
				version = u.Version.String()
			}
			fmt.Fprintf(out, "package %s lacks %s, %s, of channels %s\n", name, u.Name, version, u.Channels)
		}
	}
}

func edges(e *EntryInfo) string {
	var s string
	if e.Replaces != "" {
		s += " replaces " + e.Replaces
	}
	if len(e.Skips) > 0 {
		s += fmt.Sprintf(" skips %s", e.Skips)
	}
	if !e.SkipRange.IsZero() {
		s += fmt.Sprintf(" skipRange %q", e.SkipRange)
	}
	if e.InChain {
		s += " (chain)"
	}
	if e.Skipped {
		s += " (skipped)"
	}
	return s
}

func deprecation(reason string) string {
	if reason == "" {
		return ""
	}
	return fmt.Sprintf(", deprecated: %q", reason)
}

// dumpBundle shows what of a bundle is worth showing, and nothing of a bundle
// that has only an image.
func dumpBundle(t *testing.T, out *bytes.Buffer, x *Index, b *BundleInfo) {
	t.Helper()
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, gvk := range b.Provides {
		add("provides %s", gvk)
	}
	for _, gvk := range b.Requires {
		add("requires %s", gvk)
	}
	for _, r := range b.RequiredPackages {
		add("requires package %s %s", r.PackageName, r.Range)
	}
	for _, c := range b.Constraints {
		add("constraint %s", c)
	}
	for _, p := range b.Properties {
		if !strings.HasPrefix(p.Type, "olm.") {
			add("property %s %s", p.Type, p.Value)
		}
	}
	manifests, err := x.Manifests(b)
	if err != nil {
		t.Errorf("Manifests: %v", err)
	}
	for _, m := range manifests {
		add("manifest %s", m)
	}
	metadata, err := x.CSVMetadata(b)
	if err != nil {
		t.Errorf("CSVMetadata: %v", err)
	}
	if metadata != nil {
		add("metadata %s", metadata)
	}
	if b.Deprecated || b.Deprecation != "" {
		add("deprecated %v%s", b.Deprecated, deprecation(b.Deprecation))
	}
	if len(lines) > 0 {
		fmt.Fprintf(out, "  bundle %s\n    %s\n", b.Name, strings.Join(lines, "\n    "))
	}
}
