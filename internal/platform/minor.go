package platform

import (
	"cmp"
	"fmt"

	"github.com/blang/semver/v4"
)

// Minor is a version of a platform as far as upgrades are about it: patch releases and pre-releases do not count.
type Minor struct{ Major, Minor uint64 }

// maxVersion is how long the text of a version may be, in bytes.
const maxVersion = 256

func parse(text string) (semver.Version, error) {
	if len(text) > maxVersion {
		return semver.Version{}, fmt.Errorf("a version of %d bytes; %d are allowed", len(text), maxVersion)
	}
	v, err := semver.ParseTolerant(text)
	if err != nil {
		return v, fmt.Errorf("%q is not a version such as 4.18 or 1.33.2: %w", text, err)
	}
	return v, nil
}

// Compare orders versions: negative when this one comes before another.
func (m Minor) Compare(other Minor) int {
	return cmp.Or(cmp.Compare(m.Major, other.Major), cmp.Compare(m.Minor, other.Minor))
}

func (m Minor) String() string { return fmt.Sprintf("%d.%d", m.Major, m.Minor) }
