package version

import (
	"fmt"

	"github.com/blang/semver/v4"
)

// maxText bounds the length of every text parsed here. Real ranges have a few
// dozen characters; the bound keeps hostile ones from costing anything.
const maxText = 4096

// Parse reads a version strictly: three numbers without leading zeros and
// without a leading "v", then an optional pre-release and build.
func Parse(s string) (semver.Version, error) {
	if err := checkLength("version", s); err != nil {
		return semver.Version{}, err
	}
	v, err := semver.Parse(s)
	if err != nil {
		return semver.Version{}, fmt.Errorf("version %q is not a semantic version such as 1.2.3: %w", s, err)
	}
	return v, nil
}

// ParseTolerant also reads versions with surrounding space, a leading "v",
// leading zeros, or only one or two numbers ("v1.2" is 1.2.0).
func ParseTolerant(s string) (semver.Version, error) {
	if err := checkLength("version", s); err != nil {
		return semver.Version{}, err
	}
	v, err := semver.ParseTolerant(s)
	if err != nil {
		return semver.Version{}, fmt.Errorf("version %q is not a semantic version such as 1.2.3, v1.2 or 1: %w", s, err)
	}
	return v, nil
}

func checkLength(what, s string) error {
	if len(s) > maxText {
		return fmt.Errorf("%s %q… has %d characters; the most allowed is %d", what, s[:32], len(s), maxText)
	}
	return nil
}
