/// The provider id of e-mail addresses with a password or a link.
public let EmailAuthProviderID: String = "password"

/// The way to sign in with an e-mail address and a password.
public let EmailPasswordAuthSignInMethod: String = "password"

/// The way to sign in with a link that was sent by e-mail.
public let EmailLinkAuthSignInMethod: String = "emailLink"

/// The provider id of Google.
public let GoogleAuthProviderID: String = "google.com"

/// The way to sign in with Google.
public let GoogleAuthSignInMethod: String = "google.com"

/// The provider id of Facebook.
public let FacebookAuthProviderID: String = "facebook.com"

/// The way to sign in with Facebook.
public let FacebookAuthSignInMethod: String = "facebook.com"

/// The provider id of Twitter.
public let TwitterAuthProviderID: String = "twitter.com"

/// The way to sign in with Twitter.
public let TwitterAuthSignInMethod: String = "twitter.com"

/// The provider id of GitHub.
public let GitHubAuthProviderID: String = "github.com"

/// The way to sign in with GitHub.
public let GitHubAuthSignInMethod: String = "github.com"

/// The provider id of phone numbers.
public let PhoneAuthProviderID: String = "phone"

/// The way to sign in with a code that was sent to a phone.
public let PhoneAuthSignInMethod: String = "phone"

/// The kind of a second factor that gets its codes by text message.
public let PhoneMultiFactorID: String = "phone"

/// The kind of a second factor that makes its codes from a secret and the time.
public let TOTPMultiFactorID: String = "totp"
