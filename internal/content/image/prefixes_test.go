package image

import (
	"strings"
	"testing"
)

func TestPrefixes(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("a", 64)
	for name, test := range map[string]struct {
		list, ref string
		covers    bool
	}{
		"its host":                       {"quay.io", "quay.io/org/app" + digest, true},
		"one of several hosts":           {"a.example.com,quay.io", "quay.io/org/app:v1", true},
		"another host":                   {"quay.io", "ghcr.io/org/app" + digest, false},
		"a host that begins the same":    {"quay.io", "quay.io.example.com/org/app" + digest, false},
		"a host that ends the same":      {"quay.io", "evil-quay.io/org/app" + digest, false},
		"a path":                         {"quay.io/org", "quay.io/org/app" + digest, true},
		"the whole name":                 {"quay.io/org/app", "quay.io/org/app" + digest, true},
		"a path that begins the same":    {"quay.io/org", "quay.io/organic/app" + digest, false},
		"a slash at the end":             {"quay.io/org/", "quay.io/org/app" + digest, true},
		"a port":                         {"localhost:5000", "localhost:5000/app" + digest, true},
		"another port":                   {"quay.io", "quay.io:8443/app" + digest, false},
		"a host in capitals":             {"Quay.io", "quay.IO/org/app" + digest, true},
		"the registry without a host":    {"docker.io", "app" + digest, true},
		"its other name":                 {"index.docker.io", "org/app" + digest, true},
		"the images without an owner":    {"docker.io/library", "app" + digest, true},
		"images of somebody":             {"docker.io/library", "org/app" + digest, false},
		"a host that the path pretends":  {"quay.io", "ghcr.io/quay.io/app" + digest, false},
		"a user that the host pretends":  {"quay.io", "quay.io@ghcr.io/app" + digest, false},
		"what is no reference at all":    {"quay.io", "quay.io/UPPER", false},
		"two hosts beside each other":    {"quay.io,ghcr.io/a", "ghcr.io/b/app" + digest, false},
		"a scheme that is no part of it": {"quay.io", "https://quay.io/org/app" + digest, false},
	} {
		p, err := ParsePrefixes(strings.Split(test.list, ","))
		if err != nil || p.Covers(test.ref) != test.covers {
			t.Errorf("%s: %s of %s: %t, %v", name, test.ref, test.list, !test.covers, err)
		}
	}
	if none, err := ParsePrefixes(nil); err != nil || len(none) != 0 || none.Covers("quay.io/org/app") {
		t.Errorf("an empty list covers nothing: %v, %v", none, err)
	}
}

func TestPrefixesThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "it is empty",
		"https://quay.io":      "leave the scheme out",
		"org/app":              "names no host",
		"quay":                 "names no host",
		"quay.io/org:v1":       "leave the tag",
		"quay.io/org@sha256:a": "leave the tag",
		"*.quay.io":            "is no host",
		"quay.io/Org":          "is no host",
		"quay .io":             "is no host",
		"quay.io//org":         "is no host",
	} {
		if _, err := ParsePrefixes([]string{"ghcr.io", text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
