package kubeconfig

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
)

// clusterDomain is that of nearly all clusters. What another one is called is in no API; its Services are known by their short names.
const clusterDomain = "cluster.local"

// ServiceOf is the Service of the cluster that a host names: NAME.NAMESPACE.svc, which pods of every cluster know, or the same with the domain
// cluster.local. Any other domain may be that of a server elsewhere, such as registry.team.svc.example.com, and is not taken for the cluster's.
func ServiceOf(host string) (service types.NamespacedName, ok bool) {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	short, found := strings.CutSuffix(strings.TrimSuffix(host, "."+clusterDomain), ".svc")
	name, namespace, two := strings.Cut(short, ".")
	if !found || !two || len(validation.IsDNS1123Label(name)) > 0 || len(validation.IsDNS1123Label(namespace)) > 0 {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, true
}
