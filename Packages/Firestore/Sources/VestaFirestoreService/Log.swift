import VestaCore

/// What the engine has to say to whoever runs it.
let log = Logger(service: "VestaFirestoreService")
