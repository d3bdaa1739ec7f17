package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// DefaultImage has the program /bin/opm, which makes the cache of a catalog image and serves it.
const DefaultImage = "quay.io/operator-framework/opm:latest"

// Image describes the image of a catalog.
type Image struct {
	// Dir is the name of the catalog's directory beside the Dockerfile.
	Dir string
	// Base is what the image is made from; empty means DefaultImage. With "scratch" it has the catalog and its cache, but no
	// program: its server brings one.
	Base string
	// Builder makes the cache; empty means DefaultImage.
	Builder string
	// Labels are put on the image besides the one that makes it a catalog's.
	Labels map[string]string
}

const (
	scratch      = "scratch"
	configsLabel = "operators.operatorframework.io.index.configs.v1"
)

// plain is what an image or a directory may be called in a Dockerfile without being taken for something else.
var plain = regexp.MustCompile(`^[A-Za-z0-9_.][A-Za-z0-9_./:@-]*$`)

// Dockerfile is the text of a Dockerfile for the image of a catalog.
func Dockerfile(i Image) (string, error) {
	if i.Base == "" {
		i.Base = DefaultImage
	}
	if i.Builder == "" {
		i.Builder = DefaultImage
	}
	switch {
	case i.Dir == "":
		return "", errNoDirectory
	case i.Builder == scratch:
		return "", fmt.Errorf("invalid builder image: %q: it has no program to make the cache with", scratch)
	}
	for _, part := range []struct{ what, name string }{{"directory", i.Dir}, {"base image", i.Base}, {"builder image", i.Builder}} {
		if !plain.MatchString(part.name) {
			return "", fmt.Errorf("write a Dockerfile: the %s %q has characters that mean something else there", part.what, part.name)
		}
	}
	var b strings.Builder
	b.WriteString("# The builder makes the cache of the catalog, so that the server need not.\n")
	fmt.Fprintf(&b, "FROM %s as builder\n\n", i.Builder)
	fmt.Fprintf(&b, "ADD %s /configs\n", i.Dir)
	b.WriteString("RUN [\"/bin/opm\", \"serve\", \"/configs\", \"--cache-dir=/tmp/cache\", \"--cache-only\"]\n\n")
	fmt.Fprintf(&b, "FROM %s\n", i.Base)
	if i.Base == scratch {
		b.WriteString("# There is no program in this image. In the CatalogSource, set spec.grpcPodConfig.extractContent with\n" +
			"# catalogDir: /configs and cacheDir: /tmp/cache.\n\n")
	} else {
		b.WriteString("\nENTRYPOINT [\"/bin/opm\"]\nCMD [\"serve\", \"/configs\", \"--cache-dir=/tmp/cache\"]\n\n")
	}
	b.WriteString("COPY --from=builder /configs /configs\nCOPY --from=builder /tmp/cache /tmp/cache\n\n")
	b.WriteString("# Where the catalog is in the image.\n")
	fmt.Fprintf(&b, "LABEL %s=/configs\n", configsLabel)
	for _, key := range slices.Sorted(maps.Keys(i.Labels)) {
		fmt.Fprintf(&b, "LABEL %s=%s\n", strconv.Quote(key), strings.ReplaceAll(strconv.Quote(i.Labels[key]), "$", `\$`))
	}
	return b.String(), nil
}

// WriteDockerfile writes the Dockerfile for a catalog beside its directory and returns its name. It overwrites nothing.
func WriteDockerfile(dir string, i Image) (string, error) {
	whole, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("write a Dockerfile for %s: %w", dir, err)
	}
	if info, err := os.Stat(whole); err != nil || !info.IsDir() {
		return "", fmt.Errorf("write a Dockerfile for %s: it is not a directory; name the directory of the catalog", dir)
	}
	i.Dir = strings.TrimPrefix(filepath.Base(whole), string(filepath.Separator))
	text, err := Dockerfile(i)
	if err != nil {
		return "", err
	}
	name := filepath.Join(filepath.Dir(whole), i.Dir+".Dockerfile")
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("write %s: it is there already; remove it, or keep it", name)
	}
	if err != nil {
		return "", fmt.Errorf("write a Dockerfile: %w", err)
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("write %s: %w", name, err)
	}
	return name, nil
}

// ParseLabels reads labels written as key=value. Of two with the same key the last one counts.
func ParseLabels(list []string) (map[string]string, error) {
	labels := map[string]string{}
	for _, text := range list {
		key, value, ok := strings.Cut(text, "=")
		if !ok || !plain.MatchString(key) {
			return nil, fmt.Errorf("invalid label %q: write it as key=value", text)
		}
		labels[key] = value
	}
	return labels, nil
}
