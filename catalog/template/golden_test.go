package template

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

var images = regexp.MustCompile(`^example\.com/(rebuilt/)?([a-z]{1,20}):([0-9][0-9a-z._-]{0,20})$`)

// source knows the images example.com/PACKAGE:VERSION. The tag may have -rRELEASE at its end, and stands for build metadata where
// it has a "_". Bundles below "rebuilt" have the annotation that makes build metadata a release. The repository "missing" does not
// exist, and "broken" has a bundle without a version.
func source(_ context.Context, image string) (Bundle, error) {
	parts := images.FindStringSubmatch(image)
	if parts == nil || parts[2] == "missing" {
		return Bundle{}, fmt.Errorf("pull image %s: NotFound", image)
	}
	repository, tag := parts[2], parts[3]
	text, release, _ := strings.Cut(strings.ReplaceAll(tag, "_", "+"), "-r")
	b := Bundle{Bundle: catalog.Bundle{Schema: catalog.SchemaBundle, Package: repository, Name: repository + ".v" + text, Image: image}}
	value := fmt.Sprintf(`{"packageName":%q,"version":%q}`, repository, text)
	if release != "" {
		b.Name = repository + "-v" + text + "-" + release
		value = fmt.Sprintf(`{"packageName":%q,"version":%q,"release":%q}`, repository, text, release)
	}
	if repository != "broken" {
		b.Properties = []catalog.Property{{Type: catalog.PropertyPackage, Value: []byte(value)}}
	}
	if parts[1] != "" {
		b.Properties = append(b.Properties, catalog.Property{Type: catalog.PropertyCSVMetadata, Value: []byte(`{"annotations":{"olm.substitutesFor":"base"}}`)})
	}
	b.Description = "All about " + b.Name + "."
	b.Icon = &catalog.Icon{Data: []byte(text), MediaType: "image/png"}
	return b, nil
}

// TestGolden renders the templates in testdata. Each archive says in its comment what it shows; its file is called after the type
// to ask for, or template where the schema decides.
func TestGolden(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives in testdata (%v)", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive := must.Value(txtar.ParseFile(name))(t)
			input := archive.Files[0]
			got := outcome(t, input)
			if *update {
				archive.Files = []txtar.File{input, {Name: "expected", Data: []byte(got)}}
				must.NoError(t, os.WriteFile(name, txtar.Format(archive), 0o644))
				return
			}
			if len(archive.Files) != 2 {
				t.Fatal("there is nothing to compare with; run with -update")
			}
			must.Equal(t, string(archive.Comment), got, string(archive.Files[1].Data))
		})
	}
}

func outcome(t *testing.T, input txtar.File) string {
	t.Helper()
	o := Options{File: input.Name, Bundles: source}
	if stem, _, _ := strings.Cut(input.Name, "."); stem != "template" {
		o.Type = Type(stem)
	}
	c, err := Render(t.Context(), bytes.NewReader(input.Data), o)
	if err != nil {
		return fmt.Sprintf("error: %v\n", err)
	}
	var out bytes.Buffer
	for _, p := range catalog.Validate(c) {
		fmt.Fprintln(&out, p)
	}
	must.NoError(t, catalog.WriteYAML(&out, c))
	return out.String()
}

func TestParseType(t *testing.T) {
	for _, known := range Types() {
		if got, err := ParseType(string(known)); got != known || err != nil {
			t.Errorf("%s is %s, %v", known, got, err)
		}
	}
	tests := map[string]struct{ name, want string }{
		"a mistyped name":       {"semvre", `invalid template type "semvre", must be one of: basic, semver, substitutes`},
		"nothing":               {"", `invalid template type ""`},
		"a type that is gone":   {"composite", "merge the catalogs"},
		"a type that was moved": {"raw", "basic one now"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := ParseType(test.name)
			must.Fail(t, "ParseType", err, test.want)
		})
	}
}

func TestImagesAreAskedForOnceAndAtOnce(t *testing.T) {
	const text = "schema: olm.semver\ncandidate:\n  bundles:\n  - image: example.com/p:1.0.0\n  - image: example.com/p:1.1.0\nstable:\n  bundles:\n  - image: example.com/p:1.0.0\n"
	arrived := make(chan string)
	o := Options{Workers: 2, Bundles: func(ctx context.Context, image string) (Bundle, error) {
		select { // each waits for another: one alone would wait for ever
		case arrived <- image:
		case <-arrived:
		case <-ctx.Done():
			return Bundle{}, context.Cause(ctx)
		}
		return source(ctx, image)
	}}
	c := must.Value(Render(t.Context(), strings.NewReader(text), o))(t)
	must.Equal(t, "len(c.Bundles)", len(c.Bundles), 2)
}

func TestTheFirstImageThatFailsIsReported(t *testing.T) {
	text := "schema: olm.semver\ncandidate:\n  bundles:\n"
	for i := range 10 {
		text += fmt.Sprintf("  - image: example.com/p:1.%d.0\n", i)
	}
	var asked atomic.Int64
	second := make(chan struct{})
	_, err := Render(t.Context(), strings.NewReader(text), Options{Workers: 2, Bundles: func(_ context.Context, image string) (Bundle, error) {
		switch image {
		case "example.com/p:1.0.0":
			<-second // which failed before
			time.Sleep(10 * time.Millisecond)
		case "example.com/p:1.1.0":
			defer close(second)
		default:
			asked.Add(1)
		}
		return Bundle{}, errors.New("cannot be had: " + image)
	}})
	must.Fail(t, "Render", err, "p:1.0.0")
	if n := asked.Load(); n > 1 { // the one that waited for a worker
		t.Errorf("%d images are asked for after a failure", n)
	}
}

func TestCancelledRendering(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("interrupted")
	cancel(why)
	for _, text := range []string{
		"schema: olm.semver\nfast: {bundles: [{image: example.com/p:1.0.0}]}",
		"schema: olm.template.basic\nentries: [{schema: olm.bundle, image: example.com/p:1.0.0}]",
	} {
		if _, err := Render(ctx, strings.NewReader(text), Options{Bundles: source}); !errors.Is(err, why) {
			t.Errorf("error %v for %s", err, text)
		}
	}
}

func TestTemplatesThatAreTooLarge(t *testing.T) {
	text := "schema: olm.semver\n# " + strings.Repeat("x", 1000)
	_, err := read("t.yaml", strings.NewReader(text), 500)
	must.Fail(t, "read", err, "t.yaml:1: ")
	bomb := "schema: olm.template.basic\na: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\n" +
		"c: &c [*b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d, *d]\nentries: [*e, *e, *e, *e]\n"
	_, err = Render(t.Context(), strings.NewReader(bomb), Options{Bundles: source})
	must.Fail(t, "Render", err, "alias")
}
