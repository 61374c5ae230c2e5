/// The scripts and the style of the pages for sign-in.
///
/// Pages refer to them, so that a policy can forbid all scripts in the pages themselves.
enum SignInScripts {
  /// Reads the account that a person chooses or describes, and hands it to the app that has opened the page.
  ///
  /// For a pop-up window, it is posted to the frame of this server in the page that has opened the window. For a
  /// redirect, it stays in the storage of this origin, where the frame finds it, and the page of the app is loaded.
  /// Apps on phones are opened by their own schemes.
  static let handler = #"""
    "use strict";
    (() => {
      const query = new URLSearchParams(location.search);
      const value = name => query.get(name) || "";
      const element = id => document.getElementById(id);
      const type = value("authType") || value("eventType");
      const provider = value("providerId");
      const storageKey = `${value("apiKey")}:${value("appName")}`;

      function say(text) {
        element("content").hidden = true;
        element("outcome").textContent = text;
        element("outcome").hidden = false;
      }

      function finish(idToken, email) {
        let url = location.href.split(/[?#]/)[0];
        url += `?providerId=${encodeURIComponent(provider)}&id_token=${idToken}`;
        if (provider.startsWith("saml.")) {
          const response = JSON.stringify({ assertion: { subject: { nameId: email } } });
          url += `&SAMLResponse=${encodeURIComponent(response)}`;
        }
        deliver({
          type, eventId: value("eventId") || null, urlResponse: url, sessionId: "none", postBody: "",
          tenantId: value("tid") || value("tenantId") || null, error: null,
        });
      }

      function deliver(authEvent) {
        if (/popup$/i.test(type)) return relay(authEvent);
        if (value("apn")) return openAndroid(authEvent);
        if (value("ibi")) return openApple(authEvent);
        const target = value("redirectUrl");
        if (!/^https?:\/\//i.test(target)) return say("The address has no redirectUrl to continue at.");
        sessionStorage.setItem(`firebase:redirectEvent:${storageKey}`, JSON.stringify(authEvent));
        location.assign(target);
      }

      function relay(authEvent) {
        let count = 0;
        for (let index = 0; window.opener && index < window.opener.frames.length; index++) {
          const frame = window.opener.frames[index];
          try {
            const query = new URLSearchParams(frame.location.search);
            if (`${query.get("apiKey")}:${query.get("appName")}` !== storageKey) continue;
          } catch {
            continue; // A frame of another origin.
          }
          const eventId = crypto.getRandomValues(new Uint32Array(2)).join("");
          frame.postMessage({ eventType: "sendAuthEvent", eventId, data: { authEvent, storageKey } }, location.origin);
          count += 1;
        }
        say(count ? "You are signed in. This window can be closed." : "The page of the app is closed.");
      }

      function openAndroid(authEvent) {
        const app = value("apn");
        if (!/^[A-Za-z][\w.]*$/.test(app)) return say("The name of the app is wrong.");
        const fields = [`S.authType=${encodeURIComponent(type)}`];
        if (authEvent.eventId) fields.push(`S.eventId=${encodeURIComponent(authEvent.eventId)}`);
        fields.push(`S.link=${encodeURIComponent(authEvent.urlResponse)}`, "B.encryptionEnabled=false");
        location.replace(`intent://firebase.auth/#Intent;scheme=genericidp;package=${app};${fields.join(";")};end;`);
      }

      function openApple(authEvent) {
        let url = `${location.origin}/__/auth/callback?authType=${encodeURIComponent(type)}`;
        url += `&link=${encodeURIComponent(authEvent.urlResponse)}`;
        if (authEvent.eventId) url += `&eventId=${encodeURIComponent(authEvent.eventId)}`;
        const [client, app] = [value("clientId"), value("appId")];
        let scheme = value("ibi");
        if (client) scheme = client.split(".").reverse().join(".");
        else if (app) scheme = `app-${app.replaceAll(":", "-")}`;
        // Schemes that browsers know have neither a point nor a hyphen.
        if (!/^[a-z][a-z0-9+]*[.-][a-z0-9+.-]*$/i.test(scheme)) return say("The scheme of the app is wrong.");
        const host = client || app ? "firebaseauth" : "google";
        location.replace(`${scheme}://${host}/link?deep_link_id=${encodeURIComponent(url)}`);
      }

      function show(isForm) {
        element("accounts-list").hidden = isForm;
        element("add-user").hidden = !isForm;
      }

      function claims() {
        const text = id => element(id).value.trim() || undefined;
        const sub = Array.from(crypto.getRandomValues(new Uint8Array(28)), byte => byte % 10).join("");
        return JSON.stringify({
          sub, iss: "", aud: "", exp: 0, iat: 0, email: text("email-input"), email_verified: true,
          name: text("display-name-input"), screen_name: text("screen-name-input"),
          picture: text("profile-photo-input"),
        });
      }

      for (const account of document.querySelectorAll(".js-reuse-account")) {
        account.addEventListener("click", () => finish(account.dataset.idToken, account.dataset.email));
      }
      document.querySelector(".js-new-account").addEventListener("click", () => show(true));
      element("back-button").addEventListener("click", () => show(false));
      element("autogen-button").addEventListener("click", () => {
        const number = crypto.getRandomValues(new Uint16Array(1))[0];
        element("email-input").value = `person.${number}@example.com`;
        element("display-name-input").value = `Person ${number}`;
        element("screen-name-input").value = `person_${number}`;
        check();
      });
      const check = () => { element("sign-in").disabled = !element("email-input").value.includes("@"); };
      element("email-input").addEventListener("input", check);
      element("main-form").addEventListener("submit", event => {
        event.preventDefault();
        check();
        if (!element("sign-in").disabled) finish(encodeURIComponent(claims()), element("email-input").value.trim());
      });
      check();
    })();
    """#

  /// Hands to the page around the frame what the handler has posted or stored, by Google's library for frames.
  static let frame = #"""
    "use strict";
    (() => {
      const query = new URLSearchParams(location.search);
      const storageKey = `${query.get("apiKey")}:${query.get("appName")}`;
      const stored = `firebase:redirectEvent:${storageKey}`;
      let page = null;

      function send(authEvent) {
        const nothing = { type: "unknown", error: { code: "auth/no-auth-event" } };
        page.send("authEvent", { type: "authEvent", authEvent: authEvent || nothing }, answers => {
          const last = answers && answers[answers.length - 1];
          if (!last || last.status !== "ACK") console.error("The app has not taken the result of the sign-in.");
        }, gapi.iframes.CROSS_ORIGIN_IFRAMES_FILTER);
      }

      window.addEventListener("message", event => {
        const message = event.data;
        if (event.origin !== location.origin || !message || message.eventType !== "sendAuthEvent") return;
        if (!message.data || message.data.storageKey !== storageKey) return;
        if (page) send(message.data.authEvent);
        else sessionStorage.setItem(stored, JSON.stringify(message.data.authEvent));
      });

      function start() {
        page = gapi.iframes.getContext().getParentIframe();
        page.register("webStorageSupport", () => ({ status: "ACK", webStorageSupport: true }),
          gapi.iframes.CROSS_ORIGIN_IFRAMES_FILTER);
        const text = sessionStorage.getItem(stored);
        sessionStorage.removeItem(stored);
        send(text && JSON.parse(text));
      }

      const failed = () => console.error("Sign-in by windows needs https://apis.google.com, which cannot be reached.");
      window.gapi_onload = () => gapi.load("gapi.iframes", { callback: start, timeout: 10000, ontimeout: failed });
    })();
    """#

  static let style = """
    body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 30rem; padding: 0 1rem; }
    ul { list-style: none; padding: 0; }
    button { font: inherit; padding: 0.5rem 1rem; }
    .account { display: block; margin: 0.5rem 0; text-align: left; width: 100%; }
    .account small { color: #555; display: block; }
    label { display: block; margin: 0.75rem 0; }
    input { box-sizing: border-box; font: inherit; padding: 0.4rem; width: 100%; }
    [hidden] { display: none; }
    """
}
