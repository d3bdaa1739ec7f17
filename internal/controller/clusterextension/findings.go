package clusterextension

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxReport bounds what a ConfigMap holds of one CRD, in bytes, and maxReports what it holds of all; a ConfigMap can have a MiB.
const (
	maxReport  = 200 << 10
	maxReports = 4 * maxReport
)

// reportData is what the ConfigMap holds: of each CRD all that there is room for, the same for the same findings.
func reportData(reports map[string]string) map[string]string {
	data := map[string]string{}
	left := maxReports
	for _, crd := range slices.SortedFunc(maps.Keys(reports), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(reports[a]), len(reports[b])), cmp.Compare(a, b)) // small ones have room in any case
	}) {
		text := reports[crd]
		most := min(maxReport, left)
		if left -= min(len(text), most); len(text) > most {
			text = strings.ToValidUTF8(text[:most], "") + fmt.Sprintf("... (and %d bytes more, for which there is no room)", len(text)-most)
		}
		data[crd] = text
	}
	return data
}

// writeReport keeps all findings in a ConfigMap that goes with the extension, and returns how to find it. It is written only when it says
// something new.
func (c *Controller) writeReport(ctx context.Context, ext *olmv1.ClusterExtension, reports map[string]string) (string, error) {
	wanted := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.SystemNamespace, Name: ext.Name + "-crd-upgrade-report",
			Labels:          map[string]string{olmv1.OwnerKindKey: olmv1.ClusterExtensionKind, olmv1.OwnerNameKey: olmv1.LabelValue(ext.Name)},
			OwnerReferences: []metav1.OwnerReference{ownerOf(ext)}},
		Data: reportData(reports),
	}
	where := fmt.Sprintf("ConfigMap %s/%s", wanted.Namespace, wanted.Name)
	there := &corev1.ConfigMap{}
	err := c.live.Get(ctx, client.ObjectKeyFromObject(wanted), there)
	switch {
	case apierrors.IsNotFound(err):
		err = c.client.Create(ctx, wanted, fieldOwner)
	case err == nil && there.Labels[olmv1.OwnerNameKey] != olmv1.LabelValue(ext.Name):
		err = errors.New("there is another one of this name: delete it")
	case err == nil && !maps.Equal(there.Data, wanted.Data):
		changed := there.DeepCopy()
		changed.Data = wanted.Data
		err = c.client.Patch(ctx, changed, client.MergeFrom(there), fieldOwner)
	}
	if err != nil {
		return "", fmt.Errorf("write the full report to %s: %w", where, err)
	}
	return where, nil
}

// ownerOf is a reference to the extension.
func ownerOf(ext *olmv1.ClusterExtension) metav1.OwnerReference {
	return *metav1.NewControllerRef(ext, olmv1.GroupVersion.WithKind(olmv1.ClusterExtensionKind))
}
