// swift-tools-version: 6.2
import PackageDescription

// The settings every Vesta target is built with; `make check` keeps them alike in all manifests.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "Auth",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaAuth", targets: ["VestaAuth"]),
    .library(name: "VestaAuthService", targets: ["VestaAuthService"]),
    .library(name: "VestaAuthWire", targets: ["VestaAuthWire"]),
    .library(name: "VestaAuthEndpoints", targets: ["VestaAuthEndpoints"]),
    .library(name: "VestaAuthRemote", targets: ["VestaAuthRemote"]),
  ],
  dependencies: [
    .package(path: "../../Interop/ServiceInterop"),
    .package(path: "../Core"),
    .package(path: "../../Interop/AppCheckInterop"),
    .package(path: "../../Interop/AuthInterop"),
    .package(path: "../../Interop/CredentialInterop"),
    .package(path: "../../Interop/CryptoInterop"),
    .package(path: "../../Interop/AuthBackend"),
    .package(path: "../../Interop/EngineInterop"),
    .package(path: "../../Interop/EventsInterop"),
    .package(path: "../../Interop/StoreInterop"),
    .package(path: "../../Interop/TransportInterop"),
  ],
  targets: [
    .target(
      name: "VestaAuth",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaFiles", package: "Core"),
        .product(name: "VestaAppCheckInterop", package: "AppCheckInterop"),
        .product(name: "VestaAuthInterop", package: "AuthInterop"),
        .product(name: "VestaCredentialInterop", package: "CredentialInterop"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaAuthBackend", package: "AuthBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaAuthService",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaAuthBackend", package: "AuthBackend"),
        .product(name: "VestaEngineInterop", package: "EngineInterop"),
        .product(name: "VestaEventsInterop", package: "EventsInterop"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaAuthTests",
      dependencies: [
        "VestaAuth",
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaFiles", package: "Core"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaAppCheckInterop", package: "AppCheckInterop"),
        .product(name: "VestaAppCheckInteropFakes", package: "AppCheckInterop"),
        .product(name: "VestaAuthInterop", package: "AuthInterop"),
        .product(name: "VestaAuthInteropContracts", package: "AuthInterop"),
        .product(name: "VestaCredentialInterop", package: "CredentialInterop"),
        .product(name: "VestaCredentialInteropContracts", package: "CredentialInterop"),
        .product(name: "VestaCredentialInteropFakes", package: "CredentialInterop"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaAuthBackend", package: "AuthBackend"),
        .product(name: "VestaAuthBackendFakes", package: "AuthBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaAuthServiceTests",
      dependencies: [
        "VestaAuthEndpoints", "VestaAuthRemote", "VestaAuthService", "VestaAuthWire",
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaCryptoInteropFakes", package: "CryptoInterop"),
        .product(name: "VestaAuthBackend", package: "AuthBackend"),
        .product(name: "VestaEventsInterop", package: "EventsInterop"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropContracts", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaAuthBackendContracts", package: "AuthBackend"),
        .product(name: "VestaAuthBackendFakes", package: "AuthBackend"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaAuthWire",
      dependencies: [
        .product(name: "VestaAuthBackend", package: "AuthBackend"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaAuthWireTests",
      dependencies: [
        "VestaAuthWire",
        .product(name: "VestaAuthBackend", package: "AuthBackend"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaAuthEndpoints",
      dependencies: [
        "VestaAuthWire",
        .product(name: "VestaAuthBackend", package: "AuthBackend"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaFiles", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaEventsInterop", package: "EventsInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaAuthRemote",
      dependencies: [
        "VestaAuthWire",
        .product(name: "VestaAuthBackend", package: "AuthBackend"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
