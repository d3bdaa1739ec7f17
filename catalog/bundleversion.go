package catalog

import "fairlead.dev/fairlead/version"

// VersionRelease is the version and release of the bundle, read by the rules
// of Validate. The error is an *InvalidError.
func (b *Bundle) VersionRelease() (version.VersionRelease, error) {
	m := &model{images: map[string]error{}, gvks: map[GVK]string{}}
	judged := &bundleModel{source: b, count: map[string]int{}, info: &BundleInfo{}}
	m.checkProperties(judged)
	m.checkVersion(judged)
	return judged.info.Version, m.problems.Err()
}
