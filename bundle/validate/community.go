package validate

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/version"
)

// maxOpenShift is the property that names the last OpenShift version that a bundle can be on.
const maxOpenShift = "olm.maxOpenShiftVersion"

// openShiftLabel is the label of a catalog with the OpenShift versions that it is for.
const openShiftLabel = "com.redhat.openshift.versions"

// lastOpenShift is the first OpenShift version without the APIs that Kubernetes 1.22 removed.
var lastOpenShift = semver.Version{Major: 4, Minor: 9}

// checkCommunity checks that a bundle with APIs that Kubernetes 1.22 removed stays away from OpenShift 4.9 and later.
func checkCommunity(r recorder) {
	uses := slices.ContainsFunc(r.Bundle.Objects, func(o *unstructured.Unstructured) bool {
		return strings.Contains(o.GetAPIVersion(), "/") && removals[0].removesKind(o.GetAPIVersion(), o.GetKind())
	})
	if r.csv == nil || !uses {
		return
	}
	checkMaxOpenShift(r)
	// Check the label in the Dockerfile of the catalog.
	if r.options.IndexFile == nil {
		r.warn(RuleIndexFile, place{}, fmt.Sprintf("the label %s of the catalog was not checked", openShiftLabel), "name its Dockerfile with index-path")
		return
	}
	match := labelLine.FindSubmatch(r.options.IndexFile)
	if match == nil {
		r.err(RuleIndexFile, place{}, fmt.Sprintf("the label %s is missing in the Dockerfile of the catalog", openShiftLabel), `add it with a range such as "v4.6-v4.8"`)
		return
	}
	if value := strings.TrimSpace(string(match[1])); !endsBefore(value, lastOpenShift) {
		r.err(RuleIndexFile, place{}, fmt.Sprintf("the label %s is %q, which is not a range that ends before %d.%d", openShiftLabel, value, lastOpenShift.Major, lastOpenShift.Minor),
			`use a range such as "v4.6-v4.8", or one version such as "=v4.8"`)
	}
}

func checkMaxOpenShift(r recorder) {
	at := r.csvPlace().in("metadata.annotations[%s]", propertiesAnnotation)
	fail := func(message string) {
		r.err(RuleMaxOpenShift, at, message, fmt.Sprintf(`set the annotation %s to [{"type": "%s", "value": "4.8"}]`, propertiesAnnotation, maxOpenShift))
	}
	text, ok := r.csv.Annotations[propertiesAnnotation]
	if !ok {
		fail("the bundle uses removed APIs, and does not say on which OpenShift versions it can be")
		return
	}
	var properties []struct{ Type, Value string }
	if err := json.Unmarshal([]byte(text), &properties); err != nil {
		fail(fmt.Sprintf("the properties are not a list of type and value: %v", err))
		return
	}
	for _, p := range properties {
		if p.Type != maxOpenShift {
			continue
		}
		v, err := version.ParseTolerant(p.Value)
		switch {
		case err != nil:
			fail(fmt.Sprintf("%s: %v", maxOpenShift, err))
		case v.GTE(lastOpenShift):
			fail(fmt.Sprintf("%s is %s, and that version does not serve the APIs any more", maxOpenShift, p.Value))
		case strings.Count(p.Value, ".") > 1:
			r.warn(RuleMaxOpenShift, at, fmt.Sprintf("%s is %s, of which only major and minor count", maxOpenShift, p.Value), "write it like 4.8")
		}
		return
	}
	fail(fmt.Sprintf("there is no property %s", maxOpenShift))
}

var labelLine = regexp.MustCompile(`(?m)^\s*LABEL\s+"?` + regexp.QuoteMeta(openShiftLabel) + `"?\s*=\s*"?([^"\n]*)"?\s*$`)

// endsBefore says whether a range of OpenShift versions, FROM-TO or =ONE, ends before a version.
func endsBefore(text string, limit semver.Version) bool {
	last, ok := strings.CutPrefix(text, "=")
	if !ok {
		if _, last, ok = strings.Cut(text, "-"); !ok {
			return false
		}
	}
	v, err := version.ParseTolerant(strings.TrimSpace(last))
	return err == nil && v.LT(limit)
}
