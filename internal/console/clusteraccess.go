package console

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
)

// Paths where users of a cluster log in and out.
const (
	loginPath    = "/login"
	oidcPath     = "/login/oidc"
	callbackPath = "/login/callback"
	logoutPath   = "/logout"
	apiPrefix    = "/api/"
)

// Fields of the login page.
const (
	tokenField = "token"
	toField    = "to"
)

// ClusterOptions say how users of a cluster log in.
type ClusterOptions struct {
	// Config reaches the API server. Only its address and its CA bundle are used, and nothing by which its owner proves who they are.
	Config *rest.Config
	// OIDC is nil where users have to bring a token.
	OIDC  *OIDC
	Log   *slog.Logger
	Clock clock.PassiveClock
}

// ClusterAccess lets in users of a cluster who prove who they are to its API server: by a token that they paste, by logging in at an OpenID Connect
// provider, or, for programs, by the token of each request.
type ClusterAccess struct {
	config   *rest.Config // without credentials
	oidc     *provider    // nil without OIDC
	log      *slog.Logger
	clock    clock.PassiveClock
	attempts *attempts
	console  *Console
	entry    *entryPages
	kinds    *kinds

	mu       sync.Mutex
	programs *lru.Cache // of *program, by the digest of the token
}

// program is a user who comes without a session.
type program struct {
	user  *User
	known time.Time // when the API server was asked who it is
}

// Bounds of programs.
const (
	maxPrograms  = 64
	programFresh = time.Minute
)

// NewClusterAccess is an access for the users of a cluster.
func NewClusterAccess(o ClusterOptions) (*ClusterAccess, error) {
	config := rest.AnonymousClientConfig(o.Config)
	config.RateLimiter = nil // that of the manager: NewUser gives each user one of their own
	config.WarningHandler, config.WarningHandlerWithContext = rest.NoWarnings{}, nil
	config.UserAgent = "fairlead-console"
	a := &ClusterAccess{config: config, log: o.Log, clock: o.Clock, attempts: newAttempts(o.Clock), kinds: newKinds()}
	a.programs = lru.NewWithEvictionFunc(maxPrograms, func(_ lru.Key, value any) { a.dismiss(value.(*program).user) })
	if o.OIDC == nil {
		return a, nil
	}
	var err error
	a.oidc, err = newProvider(*o.OIDC, o.Clock)
	return a, err
}

// attach is called once, by the console that the access is for.
func (a *ClusterAccess) attach(c *Console) (err error) {
	a.console = c
	a.entry, err = newEntryPages(c.assets)
	return err
}

// owns reports whether a path is of the access, with a session and without.
func (a *ClusterAccess) owns(path string) bool {
	return path == loginPath || strings.HasPrefix(path, loginPath+"/")
}

// Enter answers who has no session: by the pages to log in at, and whatever else by the way there.
func (a *ClusterAccess) Enter(w http.ResponseWriter, r *http.Request) *User {
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case r.URL.Path == loginPath && read:
		a.show(w, http.StatusOK, entryPage{To: local(r.URL.Query().Get(toField))})
	case r.URL.Path == loginPath && r.Method == http.MethodPost:
		a.byToken(w, r)
	case r.URL.Path == oidcPath && read && a.oidc != nil:
		a.beginOIDC(w, r)
	case r.URL.Path == callbackPath && read && a.oidc != nil:
		a.finishOIDC(w, r)
	case strings.HasPrefix(r.URL.Path, apiPrefix):
		refuseProgram(w, a.log, &statusError{http.StatusUnauthorized, "The request has no session and no bearer token", "send Authorization: Bearer with a token of the cluster"})
	case a.owns(r.URL.Path):
		a.show(w, http.StatusNotFound, entryPage{Text: "There is no such page", Remedy: "log in here"})
	case read && r.URL.Path != streamPath:
		http.Redirect(w, r, address(loginPath, toField, local(r.URL.RequestURI())), http.StatusSeeOther)
	default:
		a.show(w, http.StatusUnauthorized, entryPage{Text: "You are not logged in, or your session has ended: nothing was changed", Remedy: "log in, and send the form once more"})
	}
	return nil
}

// byToken lets in who pastes a token.
func (a *ClusterAccess) byToken(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		a.show(w, http.StatusBadRequest, entryPage{Text: "The form cannot be read", Remedy: "send it once more, with a token and nothing else"})
		return
	}
	page := entryPage{To: local(r.PostForm.Get(toField))}
	token := strings.TrimSpace(r.PostForm.Get(tokenField))
	r.PostForm, r.Form = nil, nil // which have the token
	if !a.attempts.allow(r.RemoteAddr) {
		a.busy(w, page)
		return
	}
	if !usable(token) {
		page.Text, page.Remedy = "That is no token: one is a single word", "paste one, such as kubectl create token prints"
		a.show(w, http.StatusUnauthorized, page)
		return
	}
	user, err := a.user(r.Context(), &credential{clock: a.clock, held: issued{token, expiry(token)}})
	if err != nil {
		a.refused(w, r, page, err, "paste a token that is still valid for this cluster: kubectl create token makes one for a service account")
		return
	}
	if (door{a.console}).letIn(w, r, user) {
		http.Redirect(w, r, page.To, http.StatusSeeOther)
	}
}

// busy answers who tries too often.
func (a *ClusterAccess) busy(w http.ResponseWriter, page entryPage) {
	w.Header().Set("Retry-After", attemptRetry)
	page.Text, page.Remedy = "There were too many attempts to log in", "wait a few seconds, and try again"
	a.show(w, http.StatusTooManyRequests, page)
}

// refused answers who could not be let in.
func (a *ClusterAccess) refused(w http.ResponseWriter, r *http.Request, page entryPage, err error, remedy string) {
	known := entryError(err, remedy)
	a.log.Info("a login failed", "client", r.RemoteAddr, "path", r.URL.Path, "err", err)
	page.Text, page.Remedy = known.text, known.whatToDo
	a.show(w, known.status, page)
}

// entryError is what to show of a failed login.
func entryError(err error, remedy string) *statusError {
	var known *statusError
	switch {
	case errors.As(err, &known):
		return known
	case apierrors.IsUnauthorized(err), errors.Is(err, errExpired):
		return &statusError{http.StatusUnauthorized, "The API server does not accept the token", remedy}
	case errors.Is(err, context.DeadlineExceeded):
		return &statusError{http.StatusGatewayTimeout, "The API server took too long to say who you are", "try again"}
	}
	return &statusError{http.StatusBadGateway, "The API server could not be asked who you are: " + explain(err).text, "try again; an administrator finds the cause in the log of the manager"}
}

// user connects to the cluster as the one that a credential is of. The API server says who that is.
func (a *ClusterAccess) user(ctx context.Context, c *credential) (*User, error) {
	ctx, cancel := context.WithTimeout(ctx, verificationTime)
	defer cancel()
	config := rest.CopyConfig(a.config)
	config.Wrap(c.wrap)
	u, err := newUser(ctx, config, "default", a.kinds)
	if err != nil {
		c.forget(errRefused)
		return nil, err
	}
	if u.Name == "" || u.Name == anonymous {
		c.forget(errRefused)
		return nil, &statusError{http.StatusUnauthorized, "The API server does not know whose token it is", "paste a token of this cluster"}
	}
	u.credential = c
	if rest, ok := strings.CutPrefix(u.Name, "system:serviceaccount:"); ok {
		u.Namespace, _, _ = strings.Cut(rest, ":")
	}
	return u, nil
}

// anonymous is how the API server calls who has proved nothing.
const anonymous = "system:anonymous"

// Program is the user of a request of a program: one below /api that carries a token and no cookie. It is nil, without an error, where the request
// carries none.
func (a *ClusterAccess) Program(r *http.Request) (*User, error) {
	header := r.Header.Get("Authorization")
	if header == "" || !strings.HasPrefix(r.URL.Path, apiPrefix) || len(r.CookiesNamed(a.console.cookie(r))) > 0 {
		return nil, nil
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return nil, &statusError{http.StatusMethodNotAllowed, "Programs can read here, and change nothing", "change objects by the API server of the cluster"}
	}
	scheme, token, _ := strings.Cut(header, " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || !usable(token) || len(r.Header.Values("Authorization")) > 1 {
		return nil, &statusError{http.StatusUnauthorized, "The header Authorization has no bearer token", "send Authorization: Bearer with a token of the cluster"}
	}
	key := sha256.Sum256([]byte(token))
	if known := a.known(key); known != nil {
		return known, nil
	}
	if !a.attempts.allow(r.RemoteAddr) {
		return nil, &statusError{http.StatusTooManyRequests, "There were too many tokens that are new here", "wait a few seconds, and try again"}
	}
	user, err := a.user(r.Context(), &credential{clock: a.clock, held: issued{token, expiry(token)}})
	if err != nil {
		return nil, entryError(err, "send a token that is still valid for this cluster")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.programs.Add(key, &program{user, a.clock.Now()})
	return user, nil
}

// known is the user of a token that the API server was asked about a moment ago.
func (a *ClusterAccess) known(key [sha256.Size]byte) *User {
	a.mu.Lock()
	defer a.mu.Unlock()
	found, ok := a.programs.Get(key)
	if !ok {
		return nil
	}
	p := found.(*program)
	if now := a.clock.Now(); now.Sub(p.known) > programFresh || p.user.ended(now) || p.user.credential.takeDoubt() {
		a.programs.Remove(key)
		return nil
	}
	return p.user
}

// dismiss drops what is kept of a user who is not among the programs any more. Requests under way finish first.
func (a *ClusterAccess) dismiss(u *User) {
	time.AfterFunc(2*pageTime, func() { u.credential.forget(errExpired) })
	if a.console != nil {
		door{a.console}.forget(u)
	}
}

// present makes sure that the user of a session can still prove who they are.
func (u *User) present(ctx context.Context) error {
	if u.credential == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, verificationTime)
	defer cancel()
	if _, err := u.credential.current(ctx); err != nil {
		return err
	}
	if !u.credential.takeDoubt() {
		return nil
	}
	// An API that is served beside the API server may have refused the request for reasons of its own: the API server knows.
	if _, err := u.review(ctx); apierrors.IsUnauthorized(err) {
		u.credential.forget(errRefused)
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	u.credential.takeDoubt()
	return nil
}

// ended reports whether the user cannot prove who they are any more.
func (u *User) ended(now time.Time) bool { return u.credential != nil && u.credential.ended(now) }

// forget drops what the user has proved who they are with.
func (u *User) forget(why error) {
	if u.credential != nil {
		u.credential.forget(why)
	}
}
