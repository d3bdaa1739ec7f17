package image

import (
	"encoding/json"
	"strings"

	"github.com/opencontainers/go-digest"
)

// descriptor names a blob or a manifest, in OCI and in Docker documents alike.
type descriptor struct {
	MediaType string        `json:"mediaType"`
	Digest    digest.Digest `json:"digest"`
	Size      int64         `json:"size"`
	Platform  *platform     `json:"platform,omitempty"`
}

type platform struct {
	OS           string `json:"os"`
	Architecture string `json:"architecture"`
	Variant      string `json:"variant"`
}

// document is a manifest or an index; both formats agree on these fields.
type document struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Config        *descriptor  `json:"config"`
	Layers        []descriptor `json:"layers"`
	Manifests     []descriptor `json:"manifests"`
}

// parseDocument reads a manifest or an index and refuses what is neither, or
// what could be read as both.
func parseDocument(data []byte) (*document, error) {
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, problem(InvalidImage, "its manifest is not JSON: %s", steady(err.Error()))
	}
	isIndex, isManifest := d.Manifests != nil, d.Config != nil || d.Layers != nil
	switch {
	case d.SchemaVersion == 1:
		return nil, problem(InvalidImage, "its manifest has the withdrawn schema version 1")
	case isIndex == isManifest:
		return nil, problem(InvalidImage, "its manifest is neither an image nor an index (media type %q)", steady(d.MediaType))
	case isManifest && d.Config == nil:
		return nil, problem(InvalidImage, "its manifest names no configuration")
	}
	for _, each := range append(append([]descriptor{}, d.Layers...), d.Manifests...) {
		if err := checkDescriptor(each); err != nil {
			return nil, err
		}
	}
	if isManifest {
		return &d, checkDescriptor(*d.Config)
	}
	return &d, nil
}

func checkDescriptor(d descriptor) error {
	if d.Size < 0 {
		return problem(InvalidImage, "its manifest gives %s a size of %d", steady(string(d.Digest)), d.Size)
	}
	return checkDigest(d.Digest)
}

// choose picks the instance of an index to read: linux on the wanted
// architecture, else linux on amd64, else the first linux. The content of
// catalogs and bundles is the same for all of them.
func choose(instances []descriptor, architecture string) (descriptor, error) {
	var offered []string
	best, bestRank := descriptor{}, 0
	for _, each := range instances {
		if each.Platform == nil {
			continue
		}
		p, rank := each.Platform, 1
		offered = append(offered, strings.TrimRight(p.OS+"/"+p.Architecture+"/"+p.Variant, "/"))
		switch {
		case p.OS != "linux":
			rank = 0
		case p.Architecture == architecture:
			rank = 3
		case p.Architecture == "amd64":
			rank = 2
		}
		if rank > bestRank {
			best, bestRank = each, rank
		}
	}
	if bestRank > 0 {
		return best, nil
	}
	if len(instances) == 1 && instances[0].Platform == nil {
		return instances[0], nil
	}
	return best, problem(NoPlatform, "it is not offered for linux, only for [%s]", steady(strings.Join(offered, ", ")))
}

// configuration is what an image configuration says that matters here.
type configuration struct {
	Config struct {
		Labels map[string]string `json:"Labels"`
	} `json:"config"`
}
