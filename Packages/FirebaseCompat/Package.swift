// swift-tools-version: 6.2
import PackageDescription

// A composition root: it links products and plug-ins under the names of the Firebase SDK, as a program does.

// The settings every Vesta target is built with; `make check` keeps them alike in all manifests.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "FirebaseCompat",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "FirebaseCore", targets: ["FirebaseCore"]),
    .library(name: "FirebaseAuth", targets: ["FirebaseAuth"]),
    .library(name: "FirebaseFirestore", targets: ["FirebaseFirestore"]),
    .library(name: "FirebaseDatabase", targets: ["FirebaseDatabase"]),
    .library(name: "FirebaseStorage", targets: ["FirebaseStorage"]),
    .library(name: "FirebaseRemoteConfig", targets: ["FirebaseRemoteConfig"]),
    .library(name: "FirebaseMessaging", targets: ["FirebaseMessaging"]),
    .library(name: "FirebaseFunctions", targets: ["FirebaseFunctions"]),
    .library(name: "FirebaseRemote", targets: ["FirebaseRemote"]),
    .library(name: "FirebaseSharedSwift", targets: ["FirebaseSharedSwift"]),
    .library(name: "FirebaseAuthInterop", targets: ["FirebaseAuthInterop"]),
    .library(name: "FirebaseMessagingInterop", targets: ["FirebaseMessagingInterop"]),
    .library(name: "FirebaseRemoteConfigInterop", targets: ["FirebaseRemoteConfigInterop"]),
    .library(name: "FirebaseAppCheckInterop", targets: ["FirebaseAppCheckInterop"]),
  ],
  dependencies: [
    .package(path: "../AppCheck"),
    .package(path: "../Auth"),
    .package(path: "../Core"),
    .package(path: "../Crypto"),
    .package(path: "../Database"),
    .package(path: "../Firestore"),
    .package(path: "../Functions"),
    .package(path: "../Installations"),
    .package(path: "../Messaging"),
    .package(path: "../RemoteConfig"),
    .package(path: "../SQLite"),
    .package(path: "../Storage"),
    .package(path: "../Transport"),
    .package(path: "../../Interop/AppCheckInterop"),
    .package(path: "../../Interop/AuthBackend"),
    .package(path: "../../Interop/AuthInterop"),
    .package(path: "../../Interop/DatabaseBackend"),
    .package(path: "../../Interop/FirestoreBackend"),
    .package(path: "../../Interop/FunctionsBackend"),
    .package(path: "../../Interop/MessagingBackend"),
    .package(path: "../../Interop/MessagingInterop"),
    .package(path: "../../Interop/RemoteConfigBackend"),
    .package(path: "../../Interop/RemoteConfigInterop"),
    .package(path: "../../Interop/StorageBackend"),
  ],
  targets: [
    .target(name: "CVestaFirebaseCoreStart"),
    .target(
      name: "FirebaseCore",
      dependencies: [
        "CVestaFirebaseCoreStart",
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaCrypto", package: "Crypto"),
        .product(name: "VestaSQLite", package: "SQLite"),
      ],
      swiftSettings: settings
    ),
    .target(name: "CVestaFirebaseAuthStart"),
    .target(
      name: "FirebaseAuth",
      dependencies: [
        "CVestaFirebaseAuthStart", "FirebaseCore",
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaAuth", package: "Auth"),
        .product(name: "VestaAuthService", package: "Auth"),
      ],
      swiftSettings: settings
    ),
    .target(name: "CVestaFirebaseFirestoreStart"),
    .target(
      name: "FirebaseFirestore",
      dependencies: [
        "CVestaFirebaseFirestoreStart", "FirebaseCore",
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaFirestore", package: "Firestore"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
      ],
      swiftSettings: settings
    ),
    .target(name: "CVestaFirebaseDatabaseStart"),
    .target(
      name: "FirebaseDatabase",
      dependencies: [
        "CVestaFirebaseDatabaseStart", "FirebaseCore",
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaDatabase", package: "Database"),
        .product(name: "VestaDatabaseService", package: "Database"),
      ],
      swiftSettings: settings
    ),
    .target(name: "CVestaFirebaseStorageStart"),
    .target(
      name: "FirebaseStorage",
      dependencies: [
        "CVestaFirebaseStorageStart", "FirebaseCore",
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaStorage", package: "Storage"),
        .product(name: "VestaStorageService", package: "Storage"),
      ],
      swiftSettings: settings
    ),
    .target(name: "CVestaFirebaseRemoteConfigStart"),
    .target(
      name: "FirebaseRemoteConfig",
      dependencies: [
        "CVestaFirebaseRemoteConfigStart", "FirebaseCore",
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaRemoteConfig", package: "RemoteConfig"),
        .product(name: "VestaRemoteConfigService", package: "RemoteConfig"),
      ],
      swiftSettings: settings
    ),
    .target(name: "CVestaFirebaseMessagingStart"),
    .target(
      name: "FirebaseMessaging",
      dependencies: [
        "CVestaFirebaseMessagingStart", "FirebaseCore",
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaMessaging", package: "Messaging"),
        .product(name: "VestaMessagingService", package: "Messaging"),
      ],
      swiftSettings: settings
    ),
    .target(name: "CVestaFirebaseFunctionsStart"),
    .target(
      name: "FirebaseFunctions",
      dependencies: [
        "CVestaFirebaseFunctionsStart", "FirebaseCore",
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaFunctions", package: "Functions"),
        .product(name: "VestaFunctionsService", package: "Functions"),
      ],
      swiftSettings: settings
    ),
    .target(name: "CVestaFirebaseRemoteStart"),
    .target(
      name: "FirebaseRemote",
      dependencies: [
        "CVestaFirebaseRemoteStart",
        .product(name: "VestaAppCheckRemote", package: "AppCheck"),
        .product(name: "VestaAuthRemote", package: "Auth"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaFirestoreRemote", package: "Firestore"),
        .product(name: "VestaFunctionsRemote", package: "Functions"),
        .product(name: "VestaInstallationsRemote", package: "Installations"),
        .product(name: "VestaMessagingRemote", package: "Messaging"),
        .product(name: "VestaRemoteConfigRemote", package: "RemoteConfig"),
        .product(name: "VestaDatabaseRemote", package: "Database"),
        .product(name: "VestaStorageRemote", package: "Storage"),
        .product(name: "VestaTransport", package: "Transport"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "FirebaseSharedSwift", dependencies: [.product(name: "VestaDataCoding", package: "Core")],
      swiftSettings: settings),
    .target(
      name: "FirebaseAuthInterop", dependencies: [.product(name: "VestaAuthInterop", package: "AuthInterop")],
      swiftSettings: settings),
    .target(
      name: "FirebaseMessagingInterop",
      dependencies: [.product(name: "VestaMessagingInterop", package: "MessagingInterop")], swiftSettings: settings),
    .target(
      name: "FirebaseRemoteConfigInterop",
      dependencies: [.product(name: "VestaRemoteConfigInterop", package: "RemoteConfigInterop")],
      swiftSettings: settings),
    .target(
      name: "FirebaseAppCheckInterop",
      dependencies: [.product(name: "VestaAppCheckInterop", package: "AppCheckInterop")], swiftSettings: settings),
    .testTarget(
      name: "FirebaseRemoteTests",
      dependencies: [
        "FirebaseCore", "FirebaseAuth", "FirebaseFirestore", "FirebaseFunctions", "FirebaseMessaging",
        "FirebaseRemoteConfig", "FirebaseStorage", "FirebaseRemote",
        .product(name: "VestaAuthBackend", package: "AuthBackend"),
        .product(name: "VestaAuthRemote", package: "Auth"),
        .product(name: "VestaAuthService", package: "Auth"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreRemote", package: "Firestore"),
        .product(name: "VestaFunctionsBackend", package: "FunctionsBackend"),
        .product(name: "VestaFunctionsRemote", package: "Functions"),
        .product(name: "VestaMessagingBackend", package: "MessagingBackend"),
        .product(name: "VestaMessagingRemote", package: "Messaging"),
        .product(name: "VestaRemoteConfigBackend", package: "RemoteConfigBackend"),
        .product(name: "VestaRemoteConfigRemote", package: "RemoteConfig"),
        .product(name: "VestaStorageBackend", package: "StorageBackend"),
        .product(name: "VestaDatabaseBackend", package: "DatabaseBackend"),
        .product(name: "VestaDatabaseRemote", package: "Database"),
        .product(name: "VestaStorageRemote", package: "Storage"),
      ],
      swiftSettings: settings
    ),
    // Programs of the Firebase SDK's users are compiled as they are, with default settings but the language mode.
    .testTarget(
      name: "UpstreamSwift5Tests",
      dependencies: [
        "FirebaseCore", "FirebaseAuth", "FirebaseFirestore", "FirebaseDatabase", "FirebaseStorage",
        "FirebaseRemoteConfig", "FirebaseMessaging", "FirebaseFunctions", "FirebaseSharedSwift", "FirebaseAuthInterop",
        "FirebaseMessagingInterop", "FirebaseAppCheckInterop",
        .product(name: "VestaAuthBackend", package: "AuthBackend"),
        .product(name: "VestaFunctionsService", package: "Functions"),
        .product(name: "VestaRemoteConfigBackend", package: "RemoteConfigBackend"),
      ],
      swiftSettings: [.swiftLanguageMode(.v5)]
    ),
    // Programs of the Firebase SDK's users are compiled as they are, with default settings but the language mode.
    .testTarget(
      name: "UpstreamSwift6Tests",
      dependencies: [
        "FirebaseCore", "FirebaseAuth", "FirebaseFirestore", "FirebaseDatabase", "FirebaseStorage",
        "FirebaseRemoteConfig", "FirebaseMessaging", "FirebaseFunctions", "FirebaseSharedSwift", "FirebaseAuthInterop",
        "FirebaseMessagingInterop", "FirebaseAppCheckInterop",
        .product(name: "VestaAuthBackend", package: "AuthBackend"),
        .product(name: "VestaFunctionsService", package: "Functions"),
        .product(name: "VestaRemoteConfigBackend", package: "RemoteConfigBackend"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6)]
    ),
  ],
  swiftLanguageModes: [.v6]
)
