import Foundation
import Testing
import VestaAuthBackend

@testable import VestaAuth

@Suite struct ActionCodeTests {
  @Test func `a link is read with all its parts`() throws {
    let link =
      "https://x.test/action?mode=verifyEmail&oobCode=abc&apiKey=key&lang=de&continueUrl=https%3A%2F%2Fy.test%2F"
    let url = try #require(ActionCodeURL(link: link))
    #expect(url.operation == .verifyEmail && url.code == "abc" && url.apiKey == "key")
    #expect(url.languageCode == "de" && url.continueURL == URL(string: "https://y.test/"))
  }

  @Test func `a wrapped link is found`() throws {
    var components = URLComponents(string: "https://app.test/")
    components?.queryItems = [URLQueryItem(name: "link", value: "https://x.test/?mode=signIn&oobCode=abc")]
    let link = try #require(components?.string)
    #expect(ActionCodeURL(link: link)?.code == "abc")
  }

  @Test func `a link is looked for in four links around it, and no more`() throws {
    var link = "https://x.test/?mode=signIn&oobCode=abc"
    for depth in 1...5 {
      var components = URLComponents(string: "https://app.test/")
      components?.queryItems = [URLQueryItem(name: depth % 2 == 0 ? "link" : "deep_link_id", value: link)]
      link = try #require(components?.string)
      #expect(ActionCodeURL(link: link)?.code == (depth <= 4 ? "abc" : nil), "\(depth) links around it")
    }
  }

  @Test(arguments: ["", "hello", "https://x.test", "%%%", "http://[", "link=link", "?link=%3Flink%3D%253Flink"])
  func `what is no link is refused`(_ text: String) { #expect(ActionCodeURL(link: text)?.code == nil) }

  @Test(arguments: [
    ("resetPassword", ActionCodeOperation.passwordReset), ("verifyEmail", .verifyEmail),
    ("recoverEmail", .recoverEmail), ("signIn", .emailLink), ("verifyAndChangeEmail", .verifyAndChangeEmail),
    ("revertSecondFactorAddition", .revertSecondFactorAddition), ("dance", .unknown),
  ])
  func `a mode is an operation`(_ mode: String, _ operation: ActionCodeOperation) {
    #expect(ActionCodeURL(link: "https://x.test/?mode=\(mode)&oobCode=a")?.operation == operation)
  }

  @Test func `settings keep what is set`() {
    let settings = ActionCodeSettings()
    settings.url = URL(string: "https://x.test")
    settings.setAndroidPackageName("test.app", installIfNotAvailable: true, minimumVersion: "12")
    settings.setIOSBundleID("test.bundle")
    settings.androidMinimumVersion = "13"
    settings.linkDomain = "links.test"
    settings.handleCodeInApp = true
    #expect(settings.url?.absoluteString == "https://x.test" && settings.iOSBundleID == "test.bundle")
    #expect(settings.androidPackageName == "test.app" && settings.androidInstallIfNotAvailable)
    #expect(settings.androidMinimumVersion == "13" && settings.linkDomain == "links.test" && settings.handleCodeInApp)
  }

  @Test func `providers make their credentials`() throws {
    let credentials: [(AuthCredential, String)] = [
      (EmailAuthProvider.credential(withEmail: "a@b.c", password: "x"), "password"),
      (EmailAuthProvider.credential(withEmail: "a@b.c", link: "x"), "password"),
      (GoogleAuthProvider.credential(withIDToken: "i", accessToken: "a"), "google.com"),
      (FacebookAuthProvider.credential(withAccessToken: "a"), "facebook.com"),
      (GitHubAuthProvider.credential(withToken: "a"), "github.com"),
      (TwitterAuthProvider.credential(withToken: "a", secret: "s"), "twitter.com"),
      (OAuthProvider.credential(providerID: .custom("oidc.x"), accessToken: "a"), "oidc.x"),
      (OAuthProvider.credential(providerID: .gameCenter, idToken: "i"), "gc.apple.com"),
    ]
    for (credential, provider) in credentials { #expect(credential.provider == provider) }
    var name = PersonNameComponents()
    (name.givenName, name.familyName) = ("Ada", "Lovelace")
    let apple = OAuthProvider.appleCredential(withIDToken: "i", rawNonce: "n", fullName: name)
    #expect(apple.message.rawNonce == "n" && apple.message.givenName == "Ada" && apple.message.familyName == "Lovelace")
    let nonce = OAuthProvider.credential(providerID: .apple, idToken: "i", rawNonce: "n", accessToken: "a")
    #expect(nonce.idToken == "i" && nonce.accessToken == "a" && nonce.secret == nil)
  }
}
