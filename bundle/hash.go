package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/big"

	rbacv1 "k8s.io/api/rbac/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
)

// maxNameLength is the length of the longest label value and of the longest name that is generated here.
const maxNameLength = 63

// Hash62 is the hash of specs and generated names: the base 62 SHA-224 of the JSON form of a value and a newline. Its
// text has at most 38 characters of 0-9, a-z and A-Z. Names in clusters depend on the JSON form of the Go types.
func Hash62(v any) (string, error) {
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(v); err != nil {
		return "", fmt.Errorf("hash %T: write it as JSON: %w", v, err)
	}
	return base62(text.Bytes()), nil
}

// StringHash62 is the base 62 SHA-224 of a text, such as <namespace>/<group>/<suffix> for the roles of an OperatorGroup.
func StringHash62(s string) string { return base62([]byte(s)) }

// PermissionHash is the value of the label olm.permissions.hash on a Role or ClusterRole.
func PermissionHash(rules []rbacv1.PolicyRule) (string, error) { return hashJSON(rules) }

// BindingHash is the value of the label olm.permissions.hash on a RoleBinding or ClusterRoleBinding.
func BindingHash(ref rbacv1.RoleRef, subjects []rbacv1.Subject) (string, error) {
	return hashJSON(struct {
		RoleRef  rbacv1.RoleRef
		Subjects []rbacv1.Subject
	}{ref, subjects})
}

// GVKHash names an API in labels: the hexadecimal FNV-1a of Kind.version.group.
func GVKHash(gvk catalog.GVK) string { return fnvHex(gvk.String()) }

// InstalledAlongsideKey is the key of the annotation with which a CRD remembers the ClusterServiceVersion that it was
// installed with.
func InstalledAlongsideKey(namespace, name string) string {
	return v1alpha1.InstalledAlongsideAnnotationPrefix + fnvHex(namespace+"/"+name)
}

// BroughtByKey is the key of the annotation with which a CRD remembers the InstallPlan that brought it for a ClusterServiceVersion.
func BroughtByKey(namespace, name string) string {
	return v1alpha1.BroughtByAnnotationPrefix + fnvHex(namespace+"/"+name)
}

// CAHash is the value of the annotation olmcahash for the certificates, in PEM form, of an authority.
func CAHash(pem []byte) string {
	sum := sha256.Sum256(pem)
	return hex.EncodeToString(sum[:])
}

// joinName is a base and what makes the name unique, at most 63 characters long. It cuts the base, never the suffix.
func joinName(base, suffix string) string {
	if room := maxNameLength - len(suffix) - 1; len(base) > room {
		base = base[:room]
	}
	return base + "-" + suffix
}

func hashJSON(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("hash %T: write it as JSON: %w", v, err)
	}
	return base62(text), nil
}

func base62(data []byte) string {
	sum := sha256.Sum224(data)
	return new(big.Int).SetBytes(sum[:]).Text(62)
}

func fnvHex(s string) string {
	h := fnv.New64a()
	h.Write([]byte(s))
	return hex.EncodeToString(h.Sum(nil))
}
