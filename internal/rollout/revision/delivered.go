package revision

import (
	"cmp"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// other is an owner that no controller reference names, and what to do about it.
type other struct{ name, remedy string }

// Marks of the tools that deliver objects and delete them again, when their source has them no more.
const (
	// Helm adopts an object only with the label and both annotations, and sets all three on each that it installs.
	helmManagerKey   = "app.kubernetes.io/managed-by"
	helmManager      = "Helm"
	helmNameKey      = "meta.helm.sh/release-name"
	helmNamespaceKey = "meta.helm.sh/release-namespace"
	// Argo CD writes APPLICATION:GROUP/KIND:NAMESPACE/NAME, and does not go by what was copied from an object of another name.
	argoKey = "argocd.argoproj.io/tracking-id"
	// Flux labels what a Kustomization delivers; what a HelmRelease does has the marks of Helm.
	fluxNameKey      = "kustomize.toolkit.fluxcd.io/name"
	fluxNamespaceKey = "kustomize.toolkit.fluxcd.io/namespace"
	fluxPruneKey     = "kustomize.toolkit.fluxcd.io/prune"
)

// delivered is the tool that delivers an object; nil where there is none.
func delivered(live metav1.Object) *other {
	annotations, labels := live.GetAnnotations(), live.GetLabels()
	if release := annotations[helmNameKey]; release != "" && labels[helmManagerKey] == helmManager {
		namespace := annotations[helmNamespaceKey]
		return &other{fmt.Sprintf("Helm release %s/%s", namespace, release), fmt.Sprintf("to let Helm give it up, give it annotation helm.sh/resource-policy: keep in the chart, "+
			"upgrade the release, and see that helm get manifest %[1]s --namespace %[2]s has it: on the object alone it does not count, and uninstalling deletes what has it not, "+
			"with all custom resources of a definition. Then: helm uninstall %[1]s --namespace %[2]s, and remove label %[3]s and annotation %[4]s from it", release, namespace, helmManagerKey, helmNameKey)}
	}
	if application, object, ok := strings.Cut(annotations[argoKey], ":"); ok && strings.HasSuffix(object, "/"+live.GetName()) {
		return &other{"Argo CD Application " + application, fmt.Sprintf("to let Argo CD give it up, give it annotation argocd.argoproj.io/sync-options: Prune=false,Delete=false in the source "+
			"of Application %s and let that be synchronized, so that it is not deleted; then remove it from the source, and annotation %s from it", application, argoKey)}
	}
	if name := labels[fluxNameKey]; name != "" {
		kustomization := cmp.Or(labels[fluxNamespaceKey], "flux-system") + "/" + name
		return &other{"Flux Kustomization " + kustomization, fmt.Sprintf("to let Flux give it up, give it annotation %s: disabled in the source of Kustomization %s and let that be reconciled, "+
			"so that it is not deleted; then remove it from the source, and labels %s and %s from it", fluxPruneKey, kustomization, fluxNameKey, fluxNamespaceKey)}
	}
	return nil
}
