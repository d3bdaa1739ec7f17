package revision

import (
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CollisionText begins the message of a revision whose objects belong to others.
const CollisionText = "revision object collisions in phase "

// ReasonCollision is the reason of Ready and Stalled of such a revision, and of its extension. Progressing keeps the reason that clients know.
const ReasonCollision = "ObjectCollision"

// Collides reports whether the condition Progressing is about objects that belong to others: a user has to change something.
func Collides(progressing *metav1.Condition) bool {
	return progressing.Reason == olmv1.ReasonRetrying && strings.HasPrefix(progressing.Message, CollisionText)
}
