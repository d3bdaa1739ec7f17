package components

import (
	"fmt"
	_ "unsafe" // for go:linkname

	"k8s.io/component-base/version"
)

// Release is the Kubernetes release that is linked in. A test compares it with go.mod.
const Release = "v1.36.3"

// Kubernetes sets these with linker flags in its release builds. Without them it reports v0.0.0, and operators with a
// minKubeVersion refuse such a server. Plain go build and go run pass no linker flags, so they are set at run time.
//
//go:linkname gitVersion k8s.io/component-base/version.gitVersion
var gitVersion string

//go:linkname gitMajor k8s.io/component-base/version.gitMajor
var gitMajor string

//go:linkname gitMinor k8s.io/component-base/version.gitMinor
var gitMinor string

func reportReleaseVersion() error {
	gitVersion, gitMajor, gitMinor = Release, "1", "36"
	if err := version.SetDynamicVersion(Release); err != nil {
		return fmt.Errorf("set the reported Kubernetes version to %s: %w", Release, err)
	}
	return nil
}
