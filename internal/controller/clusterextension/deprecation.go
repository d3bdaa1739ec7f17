package clusterextension

import (
	"maps"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	deprecationUnknown = "deprecation status unknown: catalog data unavailable"
	noBundleYet        = "no bundle installed yet"
)

// deprecations repeat what the catalog says about the package, the channels that are followed and the installed bundle.
func (v view) deprecations() []metav1.Condition {
	var known bool
	var pkg, channels, bundle []string
	if r := v.outcome.resolved; r != nil && r.Deprecation != nil {
		known = true
		pkg = nonEmpty(r.Deprecation.Package)
		for _, name := range slices.Sorted(maps.Keys(r.Deprecation.Channels)) {
			channels = append(channels, nonEmpty(r.Deprecation.Channels[name])...)
		}
		bundle = nonEmpty(r.Deprecation.Installed)
	}
	say := func(kind, not string, messages []string) metav1.Condition {
		switch {
		case !known:
			return olmv1.NewCondition(kind, metav1.ConditionUnknown, olmv1.ReasonDeprecationStatusUnknown, deprecationUnknown)
		case len(messages) > 0:
			return olmv1.NewCondition(kind, metav1.ConditionTrue, olmv1.ReasonDeprecated, strings.Join(messages, "\n"))
		}
		return olmv1.NewCondition(kind, metav1.ConditionFalse, olmv1.ReasonNotDeprecated, not)
	}
	ofBundle := say(olmv1.TypeBundleDeprecated, "bundle not deprecated", bundle)
	if v.revisions.Installed() == nil {
		ofBundle = olmv1.NewCondition(olmv1.TypeBundleDeprecated, metav1.ConditionUnknown, olmv1.ReasonAbsent, noBundleYet)
	}
	return []metav1.Condition{
		say(olmv1.TypeDeprecated, "not deprecated", slices.Concat(pkg, channels, bundle)),
		say(olmv1.TypePackageDeprecated, "package not deprecated", pkg),
		say(olmv1.TypeChannelDeprecated, "channel not deprecated", channels),
		ofBundle,
	}
}

func nonEmpty(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}
