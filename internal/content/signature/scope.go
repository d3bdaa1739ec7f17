package signature

import (
	"fmt"
	"regexp"
	"strings"
)

// scopes lists what can match a repository, the closest first: the repository,
// the paths above it, its host, and patterns for the domains of its host. A
// port is part of a host, but not of a pattern, as in containers' policy.json.
func scopes(repository string) []string {
	all := []string{repository}
	name := repository
	for {
		i := strings.LastIndexByte(name, '/')
		if i < 0 {
			break
		}
		name = name[:i]
		all = append(all, name)
	}
	host, _, _ := strings.Cut(name, ":")
	for {
		_, domain, ok := strings.Cut(host, ".")
		if !ok || domain == "" {
			return all
		}
		host = domain
		all = append(all, "*."+domain)
	}
}

var (
	scopeHost    = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?$|^\[[0-9a-f:]+\](:[0-9]+)?$`)
	scopePattern = regexp.MustCompile(`^\*(\.[a-z0-9-]+)+$`)
	scopePath    = regexp.MustCompile(`^[a-z0-9]+([._-]+[a-z0-9]+)*$`)
)

// plain returns the one spelling of a repository that rules are written in. A registry host means the same in upper case and with the port of
// HTTPS, and the host of Docker Hub has several names: with another spelling a reference would miss the rules for its registry.
func plain(repository string) string {
	host, path, hasPath := strings.Cut(repository, "/")
	host = strings.TrimSuffix(strings.ToLower(host), ":443")
	if host == "index.docker.io" || host == "registry-1.docker.io" {
		host = "docker.io"
	}
	if !hasPath {
		return host
	}
	return host + "/" + path
}

// checkScope refuses what can never match, so that no rule is silently unused.
func checkScope(scope string) error {
	host, path, hasPath := strings.Cut(scope, "/")
	switch {
	case scope == "":
		return fmt.Errorf("the scope is empty; what no rule matches is decided by default")
	case strings.HasPrefix(scope, "*"):
		if !scopePattern.MatchString(scope) {
			return fmt.Errorf("%q is no pattern for hosts; write it as *.example.com, without port and path", scope)
		}
		return nil
	case !scopeHost.MatchString(host):
		return fmt.Errorf("%q does not begin with a registry host; write it as host, host/path or host/repository", scope)
	case plain(host) != host:
		return fmt.Errorf("%q never matches, because a reference is used only when its host is written as %s; write %s", scope, plain(host), plain(host))
	}
	if !hasPath {
		return nil
	}
	for _, part := range strings.Split(path, "/") {
		if !scopePath.MatchString(part) {
			return fmt.Errorf("%q is no repository or path of one: a scope has no tag, digest or trailing slash", scope)
		}
	}
	return nil
}
