package permissions

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"fairlead.dev/fairlead/config"

	rbacv1 "k8s.io/api/rbac/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// ManagerNeeds are the rights that the shipped manifests give a manager whose account is in a namespace: for both APIs, or for the v0 API alone.
func ManagerNeeds(namespace string, v1 bool) ([]Need, error) {
	var needs []Need
	for r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(config.Rights))); ; {
		document, err := r.Read()
		if errors.Is(err, io.EOF) {
			return needs, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the embedded roles of the manager: %w", err)
		}
		var role rbacv1.ClusterRole // which a Role can be read as
		if err := yaml.Unmarshal(document, &role); err != nil {
			return nil, fmt.Errorf("read the embedded roles of the manager: %w", err)
		}
		within := ""
		switch {
		case role.Kind == "Role":
			within = namespace
		case role.Kind != "ClusterRole" || role.Name == "fairlead-manager-v1" && !v1:
			continue
		}
		for _, rule := range role.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					needs = append(needs, Need{Namespace: within, Group: group, Resource: resource, Verbs: rule.Verbs})
				}
			}
		}
	}
}
