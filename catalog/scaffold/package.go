package scaffold

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"fairlead.dev/fairlead/catalog"
)

// maxIcon bounds the picture of a package. It is part of every answer about the package, so the usual ones take a few kilobytes.
const maxIcon = 1 << 20

// Package makes an olm.package. Channel, description and icon may be empty.
func Package(name, defaultChannel, description string, icon []byte) (catalog.Package, error) {
	p := catalog.Package{Schema: catalog.SchemaPackage, Name: name, DefaultChannel: defaultChannel, Description: description}
	for _, problem := range catalog.Validate(&catalog.Catalog{Packages: []catalog.Package{p}}) {
		if problem.Rule == catalog.RulePackageName {
			return p, fmt.Errorf("make package %q: %s; %s", name, problem.Message, problem.Fix)
		}
	}
	if len(icon) == 0 {
		return p, nil
	}
	mediaType, err := imageType(icon)
	if err != nil {
		return p, fmt.Errorf("make package %q: icon: %w", name, err)
	}
	p.Icon = &catalog.Icon{Data: icon, MediaType: mediaType}
	return p, nil
}

// imageType is the media type of a picture, told by its content.
func imageType(content []byte) (string, error) {
	if len(content) > maxIcon {
		return "", fmt.Errorf("it has %d bytes; make it smaller than %d", len(content), maxIcon)
	}
	if isSVG(content) {
		return "image/svg+xml", nil
	}
	detected, _, _ := strings.Cut(http.DetectContentType(content), ";")
	if !strings.HasPrefix(detected, "image/") {
		return "", fmt.Errorf("detected invalid type %q: not an image; give it as SVG, PNG, JPEG or GIF", detected)
	}
	return detected, nil
}

// isSVG tells whether the first element of an XML document is that of a picture.
func isSVG(content []byte) bool {
	decoder := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(content, []byte("\ufeff"))))
	decoder.Strict = false
	// Names of elements are ASCII in whatever encoding.
	decoder.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	for {
		token, err := decoder.RawToken()
		if err != nil {
			return false
		}
		switch t := token.(type) {
		case xml.StartElement:
			return t.Name.Local == "svg"
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 {
				return false
			}
		}
	}
}

var errNoDirectory = errors.New("the directory of the catalog has no name")
