package console

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"sync"
)

// Access says how users get a session.
type Access interface {
	// Enter lets in who has proved who they are by a request that has no session. It is nil where they have not, and then it has answered.
	Enter(w http.ResponseWriter, r *http.Request) *User
}

// OneTime lets in the user of a kubeconfig, by an address that works once: who finds it later, in a history or a log, is too late.
type OneTime struct {
	user *User

	mu     sync.Mutex
	digest [sha256.Size]byte
	valid  bool
}

// NewOneTime is an access for one user. It has no address until one is made.
func NewOneTime(user *User) *OneTime { return &OneTime{user: user} }

// tokenKey is the parameter of an address with the token.
const tokenKey = "token"

// Query is what the address of the console ends with to be let in once. One that was made before is worth nothing any more.
func (o *OneTime) Query() string {
	raw := secret()
	token := base64.RawURLEncoding.EncodeToString(raw[:])
	o.mu.Lock()
	defer o.mu.Unlock()
	o.digest, o.valid = sha256.Sum256([]byte(token)), true
	return "/?" + tokenKey + "=" + token
}

// Enter takes the token of the address.
func (o *OneTime) Enter(w http.ResponseWriter, r *http.Request) *User {
	if r.Method == http.MethodGet && r.URL.Path == "/" && o.takes(r.URL.Query().Get(tokenKey)) {
		return o.user
	}
	http.Error(w, "Not let in: an address of this console works once. Press Enter where fairlead console runs for another one.", http.StatusUnauthorized)
	return nil
}

func (o *OneTime) takes(token string) bool {
	digest := sha256.Sum256([]byte(token))
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.valid || subtle.ConstantTimeCompare(digest[:], o.digest[:]) != 1 {
		return false
	}
	o.valid = false
	return true
}
