"""WebChannel in a browser: a page of another origin listens and writes; BROWSER says which program to start."""
import http.server
import os
import subprocess
import sys
import tempfile
import threading

HOST = os.environ["FIRESTORE_EMULATOR_HOST"]
RESULTS = []
DONE = threading.Event()

PAGE = """<!doctype html><script type="module">
const host = "http://HOST", database = "projects/browser/databases/(default)"
const results = []

// The arrays of whole frames: a length in UTF-16 units, the end of a line, JSON. `rest` is what is left.
function frames(state, text) {
  state.rest += text
  const found = []
  for (;;) {
    const end = state.rest.indexOf("\\n")
    if (end < 0) return found
    const length = Number(state.rest.slice(0, end))
    if (state.rest.length < end + 1 + length) return found
    found.push(...JSON.parse(state.rest.slice(end + 1, end + 1 + length)))
    state.rest = state.rest.slice(end + 1 + length)
  }
}

class Channel {
  constructor(call) { Object.assign(this, { call, number: 1000, sent: 0, confirmed: 0, waiting: [], arrays: [] }) }

  url(more) {
    const query = new URLSearchParams({ database, VER: 8, ...more, zx: Math.random().toString(36).slice(2), t: 1 })
    return `${host}/google.firestore.v1.Firestore/${this.call}/channel?${query}`
  }

  place() { return { gsessionid: this.http, SID: this.id, AID: this.confirmed } }

  form(messages, more) {
    const form = new URLSearchParams({ ...more, count: messages.length })
    if (messages.length) form.set("ofs", this.sent)
    messages.forEach((message, index) => form.set(`req${index}___data__`, JSON.stringify(message)))
    this.sent += messages.length
    return form
  }

  async open(...messages) {
    const body = this.form(messages, { headers: "Authorization:Bearer owner\\r\\n" })
    const url = this.url({ RID: this.number, CVER: 22, "X-HTTP-Session-Id": "gsessionid" })
    const response = await fetch(url, { method: "POST", body, credentials: "include" })
    this.http = response.headers.get("X-HTTP-Session-Id")
    if (response.status != 200 || !this.http) throw `the handshake has failed: ${response.status} ${this.http}`
    const [[number, opened], ...others] = frames({ rest: "" }, await response.text())
    if (number != 0 || opened[0] != "c") throw "there is no handshake"
    this.id = opened[1]
    this.take(others)
  }

  async send(...messages) {
    this.number += 1
    const response = await fetch(this.url({ ...this.place(), RID: this.number }),
      { method: "POST", body: this.form(messages), credentials: "include" })
    const text = await response.text()
    if (response.status != 200 || JSON.parse(text.slice(text.indexOf("\\n") + 1)).length != 3) throw "a send has failed"
  }

  take(arrays) {
    for (const [number, array] of arrays) {
      if (number != this.confirmed + 1) throw `the array ${number} follows ${this.confirmed}`
      this.confirmed = number
      if (array[0] !== "noop") this.arrays.push(array[0])
    }
    this.waiting = this.waiting.filter(check => !check())
  }

  until(condition) {
    return new Promise((resolve, reject) => {
      setTimeout(() => reject("nothing came: " + JSON.stringify(this.arrays).slice(-300)), 30000)
      const check = () => {
        while (this.arrays.length) {
          const message = this.arrays.shift()
          if (condition(message)) { resolve(message); return true }
        }
        return false
      }
      if (!check()) this.waiting.push(check)
    })
  }

  // Streaming by fetch, as clients do by default.
  async fetching() {
    const response = await fetch(this.url({ ...this.place(), RID: "rpc", CI: 0, TYPE: "xmlhttp" }),
      { credentials: "include" })
    const reader = response.body.getReader(), decoder = new TextDecoder(), state = { rest: "" }
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      this.take(frames(state, decoder.decode(value, { stream: true })))
    }
  }

  // Streaming by XMLHttpRequest: the text grows while the response is open.
  requesting() {
    const request = new XMLHttpRequest(), state = { rest: "" }
    let seen = 0
    request.open("GET", this.url({ ...this.place(), RID: "rpc", CI: 0, TYPE: "xmlhttp" }))
    request.withCredentials = true
    request.onprogress = () => {
      const text = request.responseText.slice(seen)
      seen += text.length
      this.take(frames(state, text))
    }
    request.send()
  }

  // Long polling: each response ends.
  async polling() {
    while (!this.isOver) {
      const response = await fetch(this.url({ ...this.place(), RID: "rpc", CI: 1, TO: 2000, TYPE: "xmlhttp" }),
        { credentials: "include" })
      const found = frames({ rest: "" }, await response.text())
      if (response.status == 200 && !found.length) throw "a response has nothing"
      this.take(found)
    }
  }

  end() {
    this.isOver = true
    navigator.sendBeacon(this.url({ ...this.place(), RID: ++this.number, TYPE: "terminate" }), "")
  }
}

async function check(name, run) {
  try { await run(); results.push(name + " ok") } catch (error) { results.push(`${name}: ${error.stack ?? error}`) }
}

for (const way of ["fetching", "requesting", "polling"]) {
  await check("listen by " + way, async () => {
    const channel = new Channel("Listen")
    const documents = [`${database}/documents/pages/${way}`]
    await channel.open({ database, addTarget: { targetId: 2, documents: { documents } } })
    channel[way]()
    await channel.until(message => message.targetChange?.targetChangeType == "CURRENT")
    // A page of another origin asks before it writes.
    const response = await fetch(`${host}/v1/${documents[0]}`, {
      method: "PATCH", headers: { authorization: "Bearer owner", "content-type": "application/json" },
      body: JSON.stringify({ fields: { text: { stringValue: "grüße 🔥" } } }) })
    if (response.status != 200) throw "the write has failed: " + response.status
    const change = await channel.until(message => message.documentChange)
    if (change.documentChange.document.fields.text.stringValue != "grüße 🔥") throw JSON.stringify(change)
    // A second target of the same channel.
    await channel.send({ database, addTarget: { targetId: 4, query: { parent: `${database}/documents`,
      structuredQuery: { from: [{ collectionId: "pages" }] } } } })
    await channel.until(message => message.targetChange?.targetChangeType == "CURRENT"
      && message.targetChange.targetIds.includes(4))
    channel.end()
  })
}

await check("write", async () => {
  const channel = new Channel("Write")
  await channel.open({ database })
  channel.fetching()
  const { streamToken } = await channel.until(message => message.streamToken)
  const name = `${database}/documents/pages/written`
  await channel.send({ database, streamToken, writes: [{ update: { name, fields: { n: { integerValue: "7" } } } }] })
  const answer = await channel.until(message => message.writeResults)
  if (answer.writeResults.length != 1 || !answer.commitTime) throw JSON.stringify(answer)
  channel.end()
})

await check("an unknown session", async () => {
  const channel = new Channel("Listen")
  Object.assign(channel, { id: "none", http: "none" })
  const response = await fetch(channel.url({ ...channel.place(), RID: "rpc", CI: 0, TYPE: "xmlhttp" }),
    { credentials: "include" })
  const text = await response.text()
  if (response.status != 400 || text.indexOf("Unknown SID") <= 0) throw `${response.status} ${text}`
})

await fetch("/result", { method: "POST", body: results.join("\\n") })
</script>
""".replace("HOST", HOST)


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/" else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        if self.path == "/":
            self.wfile.write(PAGE.encode())

    def do_POST(self):
        RESULTS.extend(self.rfile.read(int(self.headers["Content-Length"])).decode().split("\n"))
        self.send_response(204)
        self.end_headers()
        DONE.set()

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
threading.Thread(target=server.serve_forever, daemon=True).start()
# Processes of the browser may still write there for a moment.
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    browser = subprocess.Popen(
        [os.environ["BROWSER"], "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--no-first-run", "--disable-background-networking", "--no-proxy-server", f"--user-data-dir={folder}/profile",
         f"http://127.0.0.1:{server.server_port}/"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    DONE.wait(240)
    browser.kill()
    browser.wait()
print("\n".join(RESULTS) or "the browser has said nothing", flush=True)
sys.stdout.flush()
os._exit(0 if RESULTS and all(line.endswith(" ok") for line in RESULTS) else 1)
