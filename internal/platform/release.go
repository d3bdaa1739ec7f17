package platform

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/blang/semver/v4"
)

// OpenShift counts on from 4.22 to 4.23, which is released as 5.0, too, and from there to 5.1: one release, made of Kubernetes 1.36, has two
// names. There is no 4.24.
var (
	lastFour  = Minor{4, 23}
	firstFive = Minor{5, 0}
)

// kubernetesOfFour and kubernetesOfFive are what to add to the minor version of OpenShift for that of its Kubernetes.
const (
	kubernetesOfFour = 13
	kubernetesOfFive = 36
)

// Release is a release of OpenShift. 4.23 and 5.0 compare as equal.
type Release struct{ named Minor }

// ParseRelease reads versions such as 4.18, 4.18.3 and 5.0.0-rc.1.
func ParseRelease(text string) (Release, error) {
	v, err := parse(text)
	m := Minor{v.Major, v.Minor}
	return Release{m}, err
}

// position is where a release stands among all. Whatever is written as 4.24 and later never comes, and stands with 4.23, so that a limit such
// as 4.99 means all of OpenShift 4.
func (r Release) position() Minor {
	if r.named.Major == lastFour.Major && r.named.Compare(lastFour) >= 0 {
		return firstFive
	}
	return r.named
}

// Compare orders releases: negative when this one comes before another.
func (r Release) Compare(other Release) int { return r.position().Compare(other.position()) }

// Next returns the release that a cluster is upgraded to from this one.
func (r Release) Next() Release {
	at := r.position()
	next := Release{Minor{at.Major, at.Minor + 1}}
	return Release{next.position()}
}

// String names a release as people know it: one that they name themselves is shown with its other name, too.
func (r Release) String() string {
	switch {
	case r.named == lastFour || r.named == firstFive:
		other := firstFive
		if r.named == firstFive {
			other = lastFour
		}
		return fmt.Sprintf("%s (which is %s)", r.named, other)
	case r.position() == firstFive:
		return fmt.Sprintf("%s (%s, which is %s, is the last of OpenShift 4)", r.named, lastFour, firstFive)
	}
	return r.named.String()
}

// openShift returns the release of OpenShift that is made of a version of Kubernetes. Since OpenShift 4.3 and Kubernetes 1.16 both count on
// together.
func openShift(kubernetes Minor) (Release, bool) {
	switch {
	case kubernetes.Major != 1 || kubernetes.Minor < 16:
		return Release{}, false
	case kubernetes.Minor >= kubernetesOfFive:
		return Release{Minor{5, kubernetes.Minor - kubernetesOfFive}}, true
	}
	return Release{Minor{4, kubernetes.Minor - kubernetesOfFour}}, true
}

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

// maxOpenShiftProperty is the property with the last minor version of OpenShift that a bundle is known to work on.
const maxOpenShiftProperty = "olm.maxOpenShiftVersion"

// MaxOpenShift is the last version of OpenShift that properties of a bundle name, in the form of the annotation olm.properties; nil when they
// name none, which means every version. Of several, which differ, the lowest counts.
func MaxOpenShift(properties string) (*Release, error) {
	if strings.TrimSpace(properties) == "" {
		return nil, nil
	}
	var list []struct {
		Type  string          `json:"type"`
		Value json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal([]byte(properties), &list); err != nil {
		return nil, fmt.Errorf("its annotation olm.properties is no JSON list of properties: %w", err)
	}
	var lowest *Release
	for _, property := range list {
		if property.Type != maxOpenShiftProperty {
			continue
		}
		named, err := maxVersionOf(property.Value)
		if err != nil {
			return nil, fmt.Errorf("its property %s: %w", maxOpenShiftProperty, err)
		}
		if lowest == nil || named.Compare(*lowest) < 0 {
			lowest = &named
		}
	}
	return lowest, nil
}

// maxVersionOf reads a text, or a number as it is written: 4.10 is not 4.1.
func maxVersionOf(value json.RawMessage) (Release, error) {
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		var number json.Number
		if err := json.Unmarshal(value, &number); err != nil {
			return Release{}, fmt.Errorf("its value is neither a text nor a number")
		}
		text = number.String()
	}
	return ParseRelease(text)
}
