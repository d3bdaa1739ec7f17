package scaffold

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// plain is what stands in a Dockerfile for itself.
var plain = regexp.MustCompile(`^[A-Za-z0-9_.][A-Za-z0-9_./:@+-]*$`)

// dockerfile builds an image with the labels that copies both directories.
func dockerfile(r Request, labels map[string]string, manifests, metadata string) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "FROM %s\n\n", cmp.Or(r.BaseImage, "scratch"))
	for _, key := range annotationKeys {
		if value, ok := labels[key]; ok {
			for _, part := range strings.Split(value, ",") {
				if !plain.MatchString(part) {
					return nil, fmt.Errorf("annotation %s: %q has characters that mean something else in a Dockerfile; correct it", key, part)
				}
			}
			fmt.Fprintf(&b, "LABEL %s=%s\n", key, value)
		}
	}
	b.WriteString("\n")
	for _, dir := range []struct{ from, to string }{{manifests, manifestsDir}, {metadata, metadataDir}} {
		// A path as the Dockerfile sees it, which cannot leave its directory.
		absolute, err := filepath.Abs(r.WorkingDir)
		if err != nil {
			return nil, err
		}
		target, err := filepath.Abs(dir.from)
		if err != nil {
			return nil, err
		}
		out, err := filepath.Rel(absolute, target)
		if err != nil || slices.Contains(strings.Split(filepath.ToSlash(out), "/"), "..") {
			return nil, fmt.Errorf("a Dockerfile in %s cannot copy %s, which is not below it; run this in a directory above both", absolute, target)
		}
		from, to := filepath.ToSlash(out), "/"+dir.to+"/"
		if plain.MatchString(from) {
			fmt.Fprintf(&b, "COPY %s %s\n", from, to)
			continue
		}
		list, err := json.Marshal([]string{from, to}) // the form for paths with blanks
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "COPY %s\n", list)
	}
	return []byte(b.String()), nil
}
