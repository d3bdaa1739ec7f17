package image

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.podman.io/image/v5/docker/reference"
)

// Prefixes are hosts of registries, and hosts with the beginning of a path, such as quay.io/org.
type Prefixes []string

// prefixForm is a host, with a port perhaps, and whole parts of a path.
var prefixForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$`)

// ParsePrefixes reads a list of them.
func ParsePrefixes(list []string) (Prefixes, error) {
	var all Prefixes
	for _, text := range list {
		one, err := parsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		all = append(all, one)
	}
	return all, nil
}

func parsePrefix(text string) (string, error) {
	if text == "" {
		return "", errors.New("it is empty; write a host, or a host and the beginning of a path, such as quay.io/org")
	}
	if strings.Contains(text, "://") {
		return "", errors.New("leave the scheme out")
	}
	host, path, deeper := strings.Cut(strings.TrimSuffix(text, "/"), "/")
	if strings.ContainsAny(path, ":@") {
		return "", errors.New("leave the tag and the digest out")
	}
	if !strings.ContainsAny(host, ".:") && host != "localhost" {
		return "", fmt.Errorf("it names no host; write the host of the registry as well, such as docker.io/%s", strings.TrimSuffix(text, "/"))
	}
	if host = strings.ToLower(host); host == "index.docker.io" {
		host = "docker.io" // which references to either mean
	}
	if deeper {
		host += "/" + path
	}
	if !prefixForm.MatchString(host) {
		return "", errors.New("it is no host of a registry, and no host with the beginning of a path, such as quay.io/org")
	}
	return host, nil
}

// Covers tells whether an image is of one of them, by the name that a reference gives it; mirrors do not count. Nothing covers what is no
// reference.
func (all Prefixes) Covers(ref string) bool {
	named, err := parseReference(ref)
	if err != nil {
		return false
	}
	name := strings.ToLower(reference.Domain(named)) + "/" + reference.Path(named)
	for _, prefix := range all {
		if strings.HasPrefix(name+"/", prefix+"/") {
			return true
		}
	}
	return false
}

// String is the list as it is told.
func (all Prefixes) String() string { return strings.Join(all, ", ") }
