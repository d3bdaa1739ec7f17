package permissions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Manifests are the Roles, ClusterRoles and bindings, as YAML that can be applied, that give a subject the missing rules. All have the name.
// There is none when nothing is missing.
func Manifests(name string, subject Subject, missing []MissingRule) ([]byte, error) {
	var out bytes.Buffer
	for _, object := range granting(name, subject, missing) {
		manifest, err := yaml.Marshal(object)
		if err != nil {
			return nil, fmt.Errorf("write a role for the permissions that %s lacks: %w", subject.User, err)
		}
		if out.Len() > 0 {
			out.WriteString("---\n")
		}
		out.Write(manifest)
	}
	return out.Bytes(), nil
}

// granting makes a role and its binding for each namespace. The rules come sorted by namespace.
func granting(name string, subject Subject, missing []MissingRule) []any {
	var objects []any
	for len(missing) > 0 {
		namespace := missing[0].Namespace
		var rules []rbacv1.PolicyRule
		for len(missing) > 0 && missing[0].Namespace == namespace {
			rules = append(rules, missing[0].PolicyRule)
			missing = missing[1:]
		}
		metadata := metav1.ObjectMeta{Name: name, Namespace: namespace}
		subjects := []rbacv1.Subject{subject.bindable()}
		if namespace == "" {
			objects = append(objects,
				&rbacv1.ClusterRole{TypeMeta: typeMeta("ClusterRole"), ObjectMeta: metadata, Rules: rules},
				&rbacv1.ClusterRoleBinding{TypeMeta: typeMeta("ClusterRoleBinding"), ObjectMeta: metadata, Subjects: subjects, RoleRef: roleRef("ClusterRole", name)})
			continue
		}
		objects = append(objects,
			&rbacv1.Role{TypeMeta: typeMeta("Role"), ObjectMeta: metadata, Rules: rules},
			&rbacv1.RoleBinding{TypeMeta: typeMeta("RoleBinding"), ObjectMeta: metadata, Subjects: subjects, RoleRef: roleRef("Role", name)})
	}
	return objects
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
}

func roleRef(kind, name string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
}

// bindable is the subject as bindings name it.
func (s Subject) bindable() rbacv1.Subject {
	if namespace, name, ok := s.account(); ok {
		return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}
	}
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: s.User}
}

// maxCommand bounds a command in a status, in bytes: with the rules it has to fit into a condition.
const maxCommand = 8 << 10

// Command is one line for a shell that grants a subject the missing rules, by Roles and ClusterRoles of a name; false where it would be too long for a
// status. It adds to roles of that name: what an earlier command granted stays. What it quotes comes from bundles, so it is ASCII without control
// characters and without the quote of the shell.
func Command(name string, subject Subject, missing []MissingRule) (string, bool) {
	list := struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Items      []any  `json:"items"`
	}{"v1", "List", granting(name, subject, missing)}
	text, err := json.Marshal(list)
	if err != nil {
		return "", false
	}
	command := "printf %s '" + plain(string(text)) + "' | kubectl auth reconcile -f -"
	return command, len(command) <= maxCommand
}

// plain is JSON with the quote of the shell, and all that is not printable ASCII, escaped. Such characters are within its strings only.
func plain(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		case r == '\'' || r < 0x20 || r > 0x7e:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Lacking is the error of a service account that may not do what installing an extension needs.
type Lacking struct {
	Extension string
	Account   Subject
	Missing   []MissingRule
	// Incomplete is why more may be missing; nil when that is all.
	Incomplete error
	// Plan is the command that plans the extension; empty is that of one in the cluster.
	Plan string
}

// Error ends with the one command that grants what is missing.
func (l *Lacking) Error() string {
	command, ok := Command(l.RoleName(), l.Account, l.Missing)
	if !ok {
		command = cmp.Or(l.Plan, "fairlead plan "+l.Extension) + " --missing-roles | kubectl auth reconcile -f -"
	}
	return Message(l.Missing, l.Incomplete) + "\nafter reading them, an administrator of the cluster grants them with: " + command
}

// RoleName is that of the roles and bindings that grant what is missing.
func (l *Lacking) RoleName() string { return l.Extension + "-installer" }
