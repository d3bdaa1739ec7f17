package platform

import "fmt"

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
