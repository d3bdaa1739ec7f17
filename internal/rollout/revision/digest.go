package revision

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
)

const digestAlgorithm = "sha256:"

// Digest is the digest of the objects of a revision that Build made; empty for others. Revisions with the same objects have the same.
func Digest(set *olmv1.ClusterObjectSet) string { return set.Annotations[DigestKey] }

// digestOf is independent of how the objects are packed.
func digestOf(protection olmv1.CollisionProtection, groups []group, adopted map[identity]bool) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n", protection)
	for _, g := range groups {
		fmt.Fprintf(sum, "%s\n", g.name)
		for _, u := range g.objects {
			encodeTo(sum, u.Object)
			if adopted[identityOf(u)] {
				fmt.Fprintf(sum, "%s\n", olmv1.CollisionProtectionIfNoController)
			}
		}
	}
	return digestAlgorithm + hex.EncodeToString(sum.Sum(nil))
}

// PhaseDigest is what a ClusterObjectSet remembers of a phase: of its name and its objects, as they are kept.
func PhaseDigest(p Phase) string {
	objects := make([]map[string]any, len(p.Objects))
	for i, o := range p.Objects {
		objects[i] = o.Object
	}
	sum := sha256.New()
	encodeTo(sum, map[string]any{"name": p.Name, "objects": objects})
	return digestAlgorithm + hex.EncodeToString(sum.Sum(nil))
}

// encodeTo writes JSON with its keys in order.
func encodeTo(sum hash.Hash, content map[string]any) {
	text, err := json.Marshal(content)
	if err != nil {
		panic("objects that were read as JSON always encode: " + err.Error())
	}
	sum.Write(text)
}
