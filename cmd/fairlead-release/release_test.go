package main

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"fairlead.dev/fairlead/test/must"
)

// hello is the small program of the tests.
const hello = "cmd/fairlead-release/testdata/hello"

// released releases the small program of the tests.
func released(t *testing.T, change func(*Options)) (Options, Release) {
	t.Helper()
	authorities := filepath.Join(t.TempDir(), "ca.crt")
	must.NoError(t, os.WriteFile(authorities, []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), 0o600))
	o := Options{Source: "../..", Package: hello, Arches: []string{"amd64", "arm64"}, CACertificates: authorities, Out: filepath.Join(t.TempDir(), "out"),
		Version: "v1.2.3", Commit: strings.Repeat("1", 40), Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("elsewhere", 3600))}
	if change != nil {
		change(&o)
	}
	made := must.Value(Make(t.Context(), o))(t)
	return o, made
}

// files are the contents of a directory, by name.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, outside := filepath.Rel(dir, path)
		all[name] = sum(text)
		return errors.Join(err, outside)
	}))
	return all
}

// published changes options to those of a release with all files, small ones.
func published(o *Options) {
	o.Programs, o.Platforms = []string{hello}, []string{"linux/amd64", "darwin/arm64", "windows/amd64"}
	o.Image = "registry.example.com:5000/team/manager:v1.2.3"
}

// TestTheSameTwice: two builds give the same bytes, of every file, and another time gives another image.
func TestTheSameTwice(t *testing.T) {
	first, one := released(t, published)
	second, two := released(t, func(o *Options) { published(o); o.Time = o.Time.UTC() })
	if diff := cmp.Diff(one, two); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(files(t, first.Out), files(t, second.Out)); diff != "" {
		t.Errorf("two builds differ:\n%s", diff)
	}
	if _, later := released(t, func(o *Options) { o.Time = o.Time.Add(time.Hour) }); later.ImageDigest == one.ImageDigest || later.Images[0].Program != one.Images[0].Program {
		t.Errorf("with another time the release is %v", later)
	}
}

// TestTheImage is an index of valid images, one for each architecture, that run the program as a user without rights, and hold nothing else.
func TestTheImage(t *testing.T) {
	o, made := released(t, nil)
	all := must.Value(layout.ImageIndexFromPath(filepath.Join(o.Out, LayoutDir)))(t)
	digest := must.Value(v1.NewHash(made.ImageDigest))(t)
	index := must.Value(all.ImageIndex(digest))(t)
	must.NoError(t, errors.Join(validate.Index(all), validate.Index(index)))
	manifest := must.Value(index.IndexManifest())(t)
	if len(manifest.Manifests) != 2 || len(made.Images) != 2 {
		t.Fatalf("the index has %d images, and %d were made", len(manifest.Manifests), len(made.Images))
	}
	for i, arch := range o.Arches {
		entry := manifest.Manifests[i]
		if entry.Digest.String() != made.Images[i].Digest || entry.Platform.String() != "linux/"+arch || made.Images[i].Platform != "linux/"+arch {
			t.Errorf("the index has %v for %s, made was %v", entry, arch, made.Images[i])
		}
		image := must.Value(index.Image(entry.Digest))(t)
		checkImage(t, image, arch)
		if layers := must.Value(image.Manifest())(t); made.Images[i].Size != layers.Config.Size+layers.Layers[0].Size {
			t.Errorf("size %d of %v", made.Images[i].Size, layers)
		}
	}
	if made.Images[0].Program == made.Images[1].Program {
		t.Error("both architectures have the same program")
	}
}

func checkImage(t *testing.T, image v1.Image, arch string) {
	t.Helper()
	c, err := image.ConfigFile()
	if err != nil || c.Config.User != "1001:1001" || !slices.Equal(c.Config.Entrypoint, []string{"/hello"}) || c.Architecture != arch || c.OS != "linux" ||
		c.Config.Labels["org.opencontainers.image.version"] != "v1.2.3" {
		t.Errorf("configuration %v, %v", c, err)
	}
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	var listed []string
	for r := tar.NewReader(must.Value(layers[0].Uncompressed())(t)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must.NoError(t, err)
		listed = append(listed, fmt.Sprintf("%o %d %s", h.Mode, h.Uid, h.Name))
	}
	want := []string{"755 0 etc/", "644 0 etc/group", "644 0 etc/passwd", "755 0 etc/ssl/", "755 0 etc/ssl/certs/", "644 0 etc/ssl/certs/ca-certificates.crt",
		"755 0 hello", "1777 0 tmp/", "755 0 var/", "755 0 var/lib/", "700 1001 var/lib/fairlead/"}
	if diff := cmp.Diff(want, listed); diff != "" {
		t.Error(diff)
	}
}

// TestTheBillOfMaterials follows the rules of the SPDX 2.3 schema, and names each module that the program has.
func TestTheBillOfMaterials(t *testing.T) {
	o, made := released(t, nil)
	var s sbom
	read(t, filepath.Join(o.Out, "hello_linux_arm64.spdx.json"), &s)
	id := regexp.MustCompile(`^SPDXRef-[A-Za-z0-9.-]+$`)
	if s.SPDXVersion != "SPDX-2.3" || s.DataLicense != "CC0-1.0" || s.SPDXID != "SPDXRef-DOCUMENT" || s.Name == "" || !strings.HasPrefix(s.DocumentNamespace, "https://") ||
		strings.Contains(s.DocumentNamespace, "#") || s.CreationInfo.Created != "2026-01-02T02:04:05Z" || len(s.CreationInfo.Creators) == 0 || !strings.HasPrefix(s.CreationInfo.Creators[0], "Tool: ") {
		t.Errorf("document %+v", s)
	}
	ids, names := map[string]bool{s.SPDXID: true}, map[string]string{}
	for _, p := range s.Packages {
		if !id.MatchString(p.SPDXID) || ids[p.SPDXID] {
			t.Errorf("SPDXID %q is not valid, or not unique", p.SPDXID)
		}
		ids[p.SPDXID], names[p.Name] = true, p.VersionInfo
		if p.DownloadLocation == "" || p.LicenseConcluded == "" || p.LicenseDeclared == "" || p.CopyrightText == "" || p.FilesAnalyzed {
			t.Errorf("package %+v lacks what the schema asks for", p)
		}
		for _, r := range p.ExternalRefs {
			if r.Category != "PACKAGE-MANAGER" || r.Type != "purl" || !strings.HasPrefix(r.Locator, "pkg:golang/") {
				t.Errorf("reference %+v", r)
			}
		}
	}
	for _, r := range s.Relationships {
		if !ids[r.Element] || !ids[r.Related] {
			t.Errorf("relationship %+v is of an element that is not there", r)
		}
	}
	if s.Relationships[0] != (relationship{"SPDXRef-DOCUMENT", "DESCRIBES", s.Packages[0].SPDXID}) || len(s.Relationships) != len(s.Packages) {
		t.Errorf("relationships %v", s.Relationships)
	}
	if s.Packages[0].Checksums[0].Value != strings.TrimPrefix(made.Images[1].Program, "sha256:") || s.Packages[0].VersionInfo != "v1.2.3" || names["stdlib"] == "" || !strings.HasPrefix(names["github.com/blang/semver/v4"], "v4.") || len(names) != 3 {
		t.Errorf("packages %v", names)
	}
}

// TestTheProvenance names what was made, by digest, and from what.
func TestTheProvenance(t *testing.T) {
	o, made := released(t, published)
	var s statement
	read(t, filepath.Join(o.Out, ProvenanceFile), &s)
	subjects := map[string]string{}
	for _, r := range s.Subject {
		subjects[r.Name] = r.Digest["sha256"]
	}
	want := map[string]string{}
	for name, digest := range files(t, o.Out) {
		if !strings.Contains(name, string(filepath.Separator)) && name != ProvenanceFile && name != ChecksumsFile {
			want[name] = digest
		}
	}
	for name, digest := range map[string]string{"image": made.ImageDigest, "image/linux/amd64": made.Images[0].Digest, "image/linux/arm64": made.Images[1].Digest} {
		want[name] = strings.TrimPrefix(digest, "sha256:")
	}
	if diff := cmp.Diff(want, subjects); diff != "" {
		t.Error(diff)
	}
	d := s.Predicate.BuildDefinition
	if s.Type != statementType || s.PredicateType != predicateType || d.BuildType == "" || s.Predicate.RunDetails.Builder.ID == "" || d.ExternalParameters.Package != o.Package ||
		d.ExternalParameters.Version != "v1.2.3" || !strings.HasPrefix(d.InternalParameters.Go, "go1.") || !slices.Contains(d.InternalParameters.Flags, "-trimpath") {
		t.Errorf("statement %+v", s)
	}
	if len(d.ResolvedDependencies) != 2 || d.ResolvedDependencies[0].Digest["gitCommit"] != o.Commit || len(d.ResolvedDependencies[1].Digest["sha256"]) != 64 {
		t.Errorf("made from %v", d.ResolvedDependencies)
	}
}

// TestWhatCannotBeReleased is said before anything is left half made, as far as it can be known.
func TestWhatCannotBeReleased(t *testing.T) {
	full := t.TempDir()
	must.NoError(t, os.WriteFile(filepath.Join(full, "file"), nil, 0o600))
	bundle := filepath.Join(t.TempDir(), "ca.crt")
	must.NoError(t, os.WriteFile(bundle, []byte("-----BEGIN CERTIFICATE-----\n"), 0o600))
	good := Options{Source: "../..", Package: hello, Arches: []string{"amd64"}, CACertificates: bundle, Version: "v1.2.3"}
	for want, change := range map[string]func(*Options){
		"is not empty":                  func(o *Options) { o.Out = full },
		"go build none for linux/amd64": func(o *Options) { o.Package = "none" },
		"holds no certificate":          func(o *Options) { o.CACertificates = filepath.Join(full, "file") },
		"name a PEM file, such as":      func(o *Options) { o.CACertificates = filepath.Join(full, "none") },
		"name an architecture":          func(o *Options) { o.Arches = nil },
		`version "1.2.3" is none`:       func(o *Options) { o.Version = "1.2.3" },
		`version "v1.2.3+a" is none`:    func(o *Options) { o.Version = "v1.2.3+a" },
		`platform "linux"`:              func(o *Options) { o.Platforms = []string{"linux"} },
		"name a tag, such as":           func(o *Options) { o.Image = "registry.example.com:5000/manager" },
		"name a tag":                    func(o *Options) { o.Image = "registry.example.com/manager@sha256:" + strings.Repeat("a", 64) },
	} {
		o := good
		o.Out = filepath.Join(t.TempDir(), "out")
		change(&o)
		if _, err := Make(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	must.NoError(t, err)
}
