package clusterextension

import (
	"fmt"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// three are three versions of a package, each with the edge to the one before, and each with a ConfigMap of its own.
func three(pkg string) []operator {
	var all []operator
	last := ""
	for _, v := range []string{"1.0.0", "1.1.0", "1.2.0"} {
		all = append(all, operator{pkg: pkg, version: v, replaces: last, files: map[string]string{"config": configMap(pkg+"-"+v, v)}})
		last = v
	}
	return all
}

func (w *world) configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.name, Name: name}}
}

// TestUpdate goes to a successor, refuses what is none until the user certifies it, and removes what the new version does not have.
func TestUpdate(t *testing.T) {
	w := newWorld(t)
	w.publish(three(w.name)...)
	w.extend(w.name, w.name, version("1.0.0"))
	w.installed(w.name, w.name+".v1.0.0")
	w.there(w.configMap(w.name + "-1.0.0"))
	w.change(w.name, version("1.2.0"))
	w.says(w.name, "Progressing", "True", "Retrying",
		fmt.Sprintf(`error upgrading from currently installed version "1.0.0": no bundles found for package %q matching version "1.2.0"`, w.name))
	w.says(w.name, "Installed", "True", "Succeeded", "1.0.0")
	w.change(w.name, version("1.1.0"))
	w.installed(w.name, w.name+".v1.1.0")
	w.there(w.configMap(w.name + "-1.1.0"))
	w.gone(w.configMap(w.name + "-1.0.0"))
	w.change(w.name, func(e *olmv1.ClusterExtension) {
		version("1.0.0")(e)
		e.Spec.Source.Catalog.UpgradeConstraintPolicy = olmv1.UpgradeConstraintPolicySelfCertified
	})
	w.installed(w.name, w.name+".v1.0.0")
	w.change(w.name, version("1.2.0"))
	w.installed(w.name, w.name+".v1.2.0")
	all := w.revisions(w.name)
	if len(all) != 4 || all[1].Spec.LifecycleState != olmv1.LifecycleStateArchived || all[4].Spec.LifecycleState != olmv1.LifecycleStateActive {
		t.Errorf("there are %d revisions", len(all))
	}
}

// TestNewContent of a catalog upgrades what it concerns, by a new reference and by the same tag; a pinned version stays.
func TestNewContent(t *testing.T) {
	w := newWorld(t)
	all := three(w.name)
	pinned := operator{pkg: w.name + "-p", version: "1.0.0"}
	w.publish(all[0], pinned)
	w.extend(w.name, w.name)
	w.extend(pinned.pkg, pinned.pkg, version("1.0.0"))
	w.installed(w.name, all[0].name())
	w.installed(pinned.pkg, pinned.name())
	next := operator{pkg: pinned.pkg, version: "1.1.0", replaces: "1.0.0"}
	w.publish(all[0], all[1], pinned, next)
	w.installed(w.name, all[1].name())
	w.installed(pinned.pkg, pinned.name())
	if got := w.revisions(pinned.pkg); len(got) != 1 {
		t.Errorf("a pinned version has %d revisions", len(got))
	}
}

// TestSameContent under another version is another revision: its objects say which version they are of.
func TestSameContent(t *testing.T) {
	w := newWorld(t)
	first := operator{pkg: w.name, version: "1.0.0", rules: `[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]`}
	w.publish(first)
	w.extend(w.name, w.name)
	w.installed(w.name, first.name())
	second := first
	second.version, second.replaces = "1.0.1", "1.0.0"
	w.publish(first, second)
	w.installed(w.name, second.name())
	if got := w.revisions(w.name); len(got) != 2 {
		t.Errorf("there are %d revisions", len(got))
	}
}

// TestSecondExtension of a package collides, whatever its version, and the first is not affected.
func TestSecondExtension(t *testing.T) {
	w := newWorld(t)
	all := three(w.name)
	w.publish(all...)
	w.extend(w.name, w.name, version("1.0.0"))
	w.installed(w.name, all[0].name())
	second := w.name + "-b"
	w.extend(second, w.name, version("1.0.0"))
	w.says(second, "Progressing", "True", "Retrying", "revision object collisions")
	w.says(second, "Installed", "False", "Failed", "No bundle installed")
	w.change(second, version("1.1.0"))
	w.until("a second revision", func() (bool, string) {
		got := w.revisions(second)
		return len(got) >= 2, fmt.Sprint(len(got))
	})
	w.says(second, "Progressing", "True", "Retrying", "revision object collisions")
	w.installed(w.name, all[0].name())
}

// TestActiveRevisions are reported while a version does not get ready, and the next one takes over.
func TestActiveRevisions(t *testing.T) {
	sweep.Nightly(t, "TestStatus and TestStuckRollOut of internal/controller/clusterextension with a fake API server, and TestAStuckUpgradeGoesBack")
	w := newWorld(t)
	stuck := three(w.name)
	stuck[1].csv = ""
	w.publish(stuck[0], stuck[1])
	w.extend(w.name, w.name, version("1.0.0"))
	w.installed(w.name, stuck[0].name())
	// The version and its settings come with one write: a version that came before its settings would be installed without them.
	w.change(w.name, func(e *olmv1.ClusterExtension) {
		version("1.1.0")(e)
		inline(`{"deploymentConfig":{"nodeSelector":{"no":"node"}}}`)(e)
	})
	w.until("two active revisions", func() (bool, string) {
		var names []string
		for _, r := range w.extension(w.name).Status.ActiveRevisions {
			names = append(names, fmt.Sprintf("%s(%d)", r.Name, len(r.Conditions)))
		}
		text := strings.Join(names, " ")
		return len(names) >= 2 && strings.HasPrefix(text, w.name+"-1(0) ") && strings.HasSuffix(text, "(2)"), text
	})
	w.says(w.name, "Progressing", "True", "RollingOut", "is rolling out")
	w.says(w.name, "Installed", "True", "Succeeded", "1.0.0")
	w.change(w.name, func(e *olmv1.ClusterExtension) { e.Spec.Config = nil })
	w.installed(w.name, stuck[1].name())
}

// TestDeprecation follows the installed bundle.
func TestDeprecation(t *testing.T) {
	sweep.Nightly(t, "TestStatus of internal/controller/clusterextension, and extension/deprecated-installed of internal/resolution")
	w := newWorld(t)
	all := three(w.name)
	all[0].deprecated = "1.0.0 is old"
	w.publish(all...)
	w.extend(w.name, w.name, version("1.0.0"))
	w.installed(w.name, all[0].name())
	w.says(w.name, "BundleDeprecated", "True", "Deprecated", "1.0.0 is old")
	w.says(w.name, "Deprecated", "True", "Deprecated", "1.0.0 is old")
	w.says(w.name, "PackageDeprecated", "False", "NotDeprecated", "package not deprecated")
	w.change(w.name, version("1.1.0"))
	w.installed(w.name, all[1].name())
	w.says(w.name, "BundleDeprecated", "False", "NotDeprecated", "bundle not deprecated")
}

// TestMorePermissions stop an upgrade that nobody asked for, until somebody agrees.
func TestMorePermissions(t *testing.T) {
	sweep.Nightly(t, "TestMorePermissions of internal/controller/clusterextension with a fake API server, and TestABundleFromAnImage")
	w := newWorld(t)
	first := operator{pkg: w.name, version: "1.0.0"}
	greedy := operator{pkg: w.name, version: "1.1.0", replaces: "1.0.0", rules: `[{"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}]`}
	w.publish(first)
	w.extend(w.name, w.name)
	w.installed(w.name, first.name())
	w.publish(first, greedy)
	w.says(w.name, "Progressing", "False", "Blocked", "secrets")
	w.says(w.name, "Available", "True", "ProbesSucceeded", "")
	w.change(w.name, func(e *olmv1.ClusterExtension) {
		e.Annotations = map[string]string{"operators.fairlead.dev/acknowledged-permissions": "*"}
	})
	w.installed(w.name, greedy.name())
}

// TestUnsafeCRD stops an upgrade, with all findings in a ConfigMap, until the check is switched off.
func TestUnsafeCRD(t *testing.T) {
	sweep.Nightly(t, "TestCRDs of internal/controller/clusterextension with a fake API server, and TestABundleFromAnImage")
	w := newWorld(t)
	definition := crd("thing", w.name, "a thing")
	owned := fmt.Sprintf(`,"customresourcedefinitions":{"owned":[{"name":"things.%s.example.com","version":"v1","kind":"Thing"}]}`, w.name)
	first := operator{pkg: w.name, version: "1.0.0", files: map[string]string{"crd": definition}, csv: owned}
	unsafe := operator{pkg: w.name, version: "1.1.0", replaces: "1.0.0", csv: owned, files: map[string]string{"crd": strings.Replace(definition, `"minimum":1`, `"minimum":2`, 1)}}
	w.publish(first)
	w.extend(w.name, w.name)
	w.installed(w.name, first.name())
	w.publish(first, unsafe)
	w.says(w.name, "Progressing", "True", "Retrying", fmt.Sprintf("validating upgrade for CRD %q: v1: ^.spec.size: minimum", "things."+w.name+".example.com"))
	report := &corev1.ConfigMap{}
	must.NoError(w, w.Get(t.Context(), client.ObjectKey{Namespace: "olm", Name: w.name + "-crd-upgrade-report"}, report))
	must.Contain(t, "the report", report.Data["things."+w.name+".example.com"], "to do:")
	w.change(w.name, func(e *olmv1.ClusterExtension) {
		e.Spec.Install = &olmv1.ClusterExtensionInstallConfig{Preflight: &olmv1.PreflightConfig{
			CRDUpgradeSafety: &olmv1.CRDUpgradeSafetyPreflightConfig{Enforcement: olmv1.CRDUpgradeSafetyEnforcementNone}}}
	})
	w.installed(w.name, unsafe.name())
}
