package crds_test

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

const catalog = `
apiVersion: olm.operatorframework.io/v1
kind: ClusterCatalog
metadata: {name: a}
spec: {source: {type: Image, image: {ref: "quay.io/example/catalog:v1"}}}
`

func TestClusterCatalogRules(t *testing.T) {
	checkCreate(t, catalog, map[string]ruleCase{
		"as it is":             {`{}`, "", ""},
		"no spec":              {`{spec: null}`, "spec", "Required"},
		"no source":            {`{spec: {source: null}}`, "spec.source", "Required"},
		"unknown type":         {`{spec: {source: {type: Git}}}`, "spec.source.type", "Image"},
		"no image":             {`{spec: {source: {image: null}}}`, "spec.source", "image is required when type is Image"},
		"no ref":               {`{spec: {source: {image: {ref: null}}}}`, "spec.source.image.ref", "Required"},
		"polled":               {`{spec: {source: {image: {pollIntervalMinutes: 1}}}}`, "", ""},
		"polled all the time":  {`{spec: {source: {image: {pollIntervalMinutes: 0}}}}`, "spec.source.image.pollIntervalMinutes", "1"},
		"unavailable":          {`{spec: {availabilityMode: Unavailable}}`, "", ""},
		"half available":       {`{spec: {availabilityMode: Sometimes}}`, "spec.availabilityMode", "Unavailable"},
		"lowest priority":      {`{spec: {priority: -2147483648}}`, "", ""},
		"priority too high":    {`{spec: {priority: 2147483648}}`, "<nil>", "format int32 in spec.priority"},
		"status":               {`{status: {urls: {base: "https://catalogs.olm.svc/catalogs/a"}, lastUnpacked: "2026-01-01T00:00:00Z"}}`, "", ""},
		"urls without base":    {`{status: {urls: {}}}`, "status.urls.base", "Required"},
		"no URL":               {`{status: {urls: {base: "not a url"}}}`, "status.urls.base", "must be a valid URL"},
		"URL of a file":        {`{status: {urls: {base: "ftp://a/b"}}}`, "status.urls.base", "scheme must be either http or https"},
		"URL too long":         {`{status: {urls: {base: "http://a/` + strings.Repeat("a", 525) + `"}}}`, "status.urls.base", "525"},
		"resolved by digest":   {`{status: {resolvedSource: {type: Image, image: {ref: "quay.io/a/b@sha256:` + strings.Repeat("a", 64) + `"}}}}`, "", ""},
		"resolved by tag":      {`{status: {resolvedSource: {type: Image, image: {ref: "quay.io/a/b:v1"}}}}`, "status.resolvedSource.image.ref", "must end with a digest"},
		"resolved to nothing":  {`{status: {resolvedSource: {type: Image}}}`, "status.resolvedSource.image", "Required"},
		"resolved to no image": {`{status: {resolvedSource: {type: Image, image: {}}}}`, "status.resolvedSource.image.ref", "Required"},
	})
}

func TestClusterCatalogImageReferences(t *testing.T) {
	digest := strings.Repeat("0123456789abcdef", 4)
	cases := map[string]ruleCase{}
	for name, c := range map[string]struct{ ref, detail string }{
		"tag":                   {"quay.io/example/catalog:v1", ""},
		"digest":                {"quay.io/example/catalog@sha256:" + digest, ""},
		"tag and digest":        {"quay.io/example/catalog:v1@sha256:" + digest, ""},
		"port":                  {"localhost:5000/a/b/c:latest", ""},
		"one part":              {"quay.io/catalog:v1", ""},
		"separators in parts":   {"quay.io/a-b/c__d/e.f---g:v1", ""},
		"no domain":             {"/example/catalog:v1", "must start with a valid domain"},
		"domain ends in hyphen": {"quay-.io/example/catalog:v1", "must start with a valid domain"},
		"port is no number":     {"quay.io:x/example/catalog:v1", "must start with a valid domain"},
		"scheme":                {"https://quay.io/example/catalog:v1", "must start with a valid domain"},
		"no name":               {"quay.io/:v1", "a valid name is required"},
		"name in upper case":    {"quay.io/Example/catalog:v1", "a valid name is required"},
		"name ends in dot":      {"quay.io/example/catalog.:v1", "a valid name is required"},
		"no tag":                {"quay.io/example/catalog", "must end with a digest or a tag"},
		"empty tag":             {"quay.io/example/catalog:", "must end with a digest or a tag"},
		"tag of 127":            {"quay.io/example/catalog:" + strings.Repeat("a", 127), ""},
		"tag of 128":            {"quay.io/example/catalog:" + strings.Repeat("a", 128), "the tag must not be more than 127 characters"},
		"tag begins with dot":   {"quay.io/example/catalog:.v1", "the tag is invalid"},
		"tag with plus":         {"quay.io/example/catalog:v1+2", "the tag is invalid"},
		"digest without kind":   {"quay.io/example/catalog@:" + digest, "must end with a digest or a tag"},
		"digest of odd kind":    {"quay.io/example/catalog@256sha:" + digest, "the digest algorithm is invalid"},
		"digest too short":      {"quay.io/example/catalog@sha256:abc", "the encoded part of the digest must be at least 32 characters"},
		"digest not hex":        {"quay.io/example/catalog@sha256:" + strings.Repeat("g", 64), "the encoded part of the digest must be hexadecimal"},
		"too long":              {"quay.io/" + strings.Repeat("a", 1000) + ":v1", "1000"},
	} {
		path := "spec.source.image.ref"
		if c.detail == "" {
			path = ""
		}
		cases[name] = ruleCase{`{spec: {source: {image: {ref: "` + c.ref + `"}}}}`, path, c.detail}
	}
	cases["digest is not polled"] = ruleCase{
		`{spec: {source: {image: {pollIntervalMinutes: 5, ref: "quay.io/a/b@sha256:` + digest + `"}}}}`,
		"spec.source.image", "cannot specify pollIntervalMinutes while using digest-based image",
	}
	checkCreate(t, catalog, cases)
}

func TestClusterCatalogDefaults(t *testing.T) {
	stored, _, _ := admit(t, parse(t, catalog))
	must.Equal(t, "priority defaults", at(stored, "spec", "priority"), any(int64(0)))
	must.Equal(t, "availabilityMode defaults", at(stored, "spec", "availabilityMode"), "Available")
}
