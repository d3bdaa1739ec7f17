package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/test/must"
)

// TestTheFiles are all that is released, and no other.
func TestTheFiles(t *testing.T) {
	o, made := released(t, published)
	var there []string
	for _, entry := range must.Value(os.ReadDir(o.Out))(t) {
		there = append(there, entry.Name())
	}
	want := []string{
		"checksums.txt", "fairlead-1.2.3.tgz",
		"hello_linux_amd64", "hello_linux_amd64.spdx.json", "hello_linux_arm64", "hello_linux_arm64.spdx.json",
		"hello_v1.2.3_darwin_arm64.spdx.json", "hello_v1.2.3_darwin_arm64.tar.gz", "hello_v1.2.3_linux_amd64.spdx.json", "hello_v1.2.3_linux_amd64.tar.gz",
		"hello_v1.2.3_windows_amd64.spdx.json", "hello_v1.2.3_windows_amd64.zip",
		"image", "install.yaml", "provenance.intoto.json",
	}
	if diff := cmp.Diff(want, there); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(slices.DeleteFunc(want, func(name string) bool { return name == "image" || name == ChecksumsFile }), made.Files); diff != "" {
		t.Error(diff)
	}
	if pinned := "registry.example.com:5000/team/manager@" + made.ImageDigest; made.Image != pinned {
		t.Errorf("the programs know image %s instead of %s", made.Image, pinned)
	}
	if printed := string(must.Value(os.ReadFile(filepath.Join(o.Out, ManifestsFile)))(t)); printed != "# 1.0.0 [system install --dry-run]\n" {
		t.Errorf("the manifests are not what the program prints: %q", printed)
	}
}

// TestArchives hold the program, which runs, and the license, with the time of the commit.
func TestArchives(t *testing.T) {
	o, _ := released(t, published)
	entries, program := untar(t, filepath.Join(o.Out, "hello_v1.2.3_linux_amd64.tar.gz"))
	if diff := cmp.Diff([]string{"755 2026-01-02T02:04:05Z hello", "644 2026-01-02T02:04:05Z LICENSE"}, entries); diff != "" {
		t.Error(diff)
	}
	if string(program["LICENSE"]) != string(must.Value(os.ReadFile("../../LICENSE"))(t)) || len(program["hello"]) < 100_000 {
		t.Errorf("%d bytes of the license, %d of the program", len(program["LICENSE"]), len(program["hello"]))
	}
	zipped := must.Value(zip.OpenReader(filepath.Join(o.Out, "hello_v1.2.3_windows_amd64.zip")))(t)
	defer func() { _ = zipped.Close() }()
	var names []string
	for _, f := range zipped.File {
		names = append(names, f.Name+" "+f.Modified.UTC().Format(time.RFC3339))
	}
	if diff := cmp.Diff([]string{"hello.exe 2026-01-02T02:04:04Z", "LICENSE 2026-01-02T02:04:04Z"}, names); diff != "" {
		t.Error(diff)
	}
}

// TestTheChart has the version of the release and the digest of the image, and otherwise is what config/chart is.
func TestTheChart(t *testing.T) {
	o, made := released(t, published)
	_, packed := untar(t, filepath.Join(o.Out, "fairlead-1.2.3.tgz"))
	changed := map[string][]string{}
	for name, content := range packed {
		source := strings.Split(string(must.Value(os.ReadFile(filepath.Join("../../config/chart", strings.TrimPrefix(name, "fairlead/"))))(t)), "\n")
		for i, line := range strings.Split(string(content), "\n") {
			if i >= len(source) || line != source[i] {
				changed[name] = append(changed[name], line)
			}
		}
	}
	want := map[string][]string{
		"fairlead/Chart.yaml":  {"version: 1.2.3", `appVersion: "1.2.3"`},
		"fairlead/values.yaml": {"  repository: registry.example.com:5000/team/manager", `  tag: "v1.2.3"`, `  digest: "` + made.ImageDigest + `"`},
	}
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Error(diff)
	}
	if len(packed) != len(files(t, "../../config/chart")) {
		t.Errorf("the packed chart has %d files", len(packed))
	}
}

// TestChecksums: sha256sum and openssl accept the checksums and their signature, as docs/releasing.md says, and nothing that was changed.
func TestChecksums(t *testing.T) {
	for _, tool := range []string{"sha256sum", "openssl", "base64"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("this machine has no %s, with which users check a release", tool)
		}
	}
	o, _ := released(t, published)
	key, public := makeSigningKey(t)
	must.NoError(t, SignChecksums(o.Out, key))
	must.NoError(t, os.WriteFile(filepath.Join(o.Out, "cosign.pub"), []byte(public), 0o600))
	page := string(must.Value(os.ReadFile("../../docs/releasing.md"))(t))
	for _, command := range []string{
		"sha256sum --check checksums.txt",
		"base64 -d checksums.txt.sig > checksums.der && openssl dgst -sha256 -verify cosign.pub -signature checksums.der checksums.txt",
	} {
		if !strings.Contains(page, "    "+command+"\n") {
			t.Errorf("docs/releasing.md does not say: %s", command)
		}
		check := func() error {
			c := exec.Command("sh", "-c", command)
			c.Dir = o.Out
			if out, err := c.CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w: %s", command, err, out)
			}
			return nil
		}
		must.NoError(t, check())
		file := filepath.Join(o.Out, ChecksumsFile)
		before := must.Value(os.ReadFile(file))(t)
		changed := slices.Clone(before)
		changed[0] = map[bool]byte{true: '1', false: '0'}[changed[0] == '0'] // of the first checksum
		must.NoError(t, os.WriteFile(file, changed, 0o600))
		must.Fail(t, "with another checksum", check(), command)
		must.NoError(t, os.WriteFile(file, before, 0o600))
	}
}

// TestVariables: what a release sets in programs exists there. The linker says nothing of a variable that does not.
func TestVariables(t *testing.T) {
	for _, variable := range []string{versionVariable, imageVariable} {
		at := strings.LastIndex(variable, ".")
		dir := filepath.Join("../..", strings.TrimPrefix(variable[:at], "fairlead.dev/fairlead/"))
		found := false
		for _, file := range must.Value(filepath.Glob(filepath.Join(dir, "*.go")))(t) {
			parsed := must.Value(parser.ParseFile(token.NewFileSet(), file, nil, 0))(t)
			ast.Inspect(parsed, func(n ast.Node) bool {
				spec, ok := n.(*ast.ValueSpec)
				found = found || ok && len(spec.Values) == 0 && spec.Names[0].Name == variable[at+1:]
				return true
			})
		}
		if !found {
			t.Errorf("%s has no variable without a value %s", dir, variable[at+1:])
		}
	}
}

// untar reads a .tar.gz: mode, time and name of each entry, and the contents of files.
func untar(t *testing.T, file string) (entries []string, content map[string][]byte) {
	t.Helper()
	in := must.Value(os.Open(file))(t)
	defer func() { _ = in.Close() }()
	content = map[string][]byte{}
	for r := tar.NewReader(must.Value(gzip.NewReader(in))(t)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return entries, content
		}
		must.NoError(t, err)
		entries = append(entries, strings.TrimSuffix(fmt.Sprintf("%o %s %s %s", h.Mode, h.ModTime.UTC().Format(time.RFC3339), h.Name, h.Linkname), " "))
		content[h.Name] = must.Value(io.ReadAll(r))(t)
	}
}
